"""Side-by-side comparisons: `make bench`. Figures are ratios of contestants that took turns in one run."""

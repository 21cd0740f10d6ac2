"""Side-by-side benchmarks (`make bench`). The figures compare contestants that took turns in one run."""

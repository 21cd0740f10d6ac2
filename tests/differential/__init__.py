"""Random projects, run step by step beside a plain model of what the documentation promises."""

"""Random projects, run step by step and compared with a plain Python model of the documentation."""

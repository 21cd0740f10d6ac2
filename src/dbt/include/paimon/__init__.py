"""The adapter's macros and profile template, which dbt reads from `PACKAGE_PATH`."""

from pathlib import Path

PACKAGE_PATH = str(Path(__file__).parent)

"""Where the adapter's macros and project template live: dbt reads them from `PACKAGE_PATH`."""

from pathlib import Path

PACKAGE_PATH = str(Path(__file__).parent)

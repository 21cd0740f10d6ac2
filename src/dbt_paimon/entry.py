"""Entry point: runs a command in a shell of the project, by dbt itself, or by `dbt-paimon`'s own commands."""

from __future__ import annotations

import sys

from dbt_paimon import client
from dbt_paimon.words import DBT, READING, command


def main() -> None:
    """Run the command line, and exit with its code."""
    words = sys.argv[1:]
    name = command(words)
    code = client.send(words) if name in DBT or name in READING else None
    if code is not None:
        sys.exit(code)
    if name in DBT:
        from dbt.cli.main import cli

        cli()
    else:
        from dbt_paimon.cli import main as own

        own()


if __name__ == "__main__":
    main()

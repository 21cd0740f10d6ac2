"""Entry point: runs a command in the project's shell, with dbt, or with `dbt-paimon`'s own commands."""

from __future__ import annotations

import sys

from dbt_paimon import client
from dbt_paimon.words import AFFECTED, DBT, READ_COMMANDS, command


def main() -> None:
    """Run the command line, and exit with its code."""
    words = sys.argv[1:]
    name = command(words)
    is_dbts = name in DBT and not (name == "build" and AFFECTED in words)
    code = client.send(words) if is_dbts or name in READ_COMMANDS else None
    if code is not None:
        sys.exit(code)
    if is_dbts:
        from dbt.cli.main import cli

        cli()
    else:
        from dbt_paimon.cli import main as own

        own()


if __name__ == "__main__":
    main()

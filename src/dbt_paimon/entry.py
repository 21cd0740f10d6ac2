"""Decides what runs a command: a shell that has the project loaded, dbt itself, or `dbt-paimon`'s own commands."""

from __future__ import annotations

import sys
from typing import Final

from dbt_paimon import client

# dbt's commands, which `dbt-paimon` runs as dbt does.
DBT: Final = frozenset(
    (
        *(
            "build",
            "clean",
            "clone",
            "compile",
            "debug",
            "deps",
            "docs",
            "list",
            "ls",
            "parse",
            "retry",
            "run",
        ),
        *("run-operation", "seed", "show", "snapshot", "source", "test"),
    )
)


def main() -> None:
    """Run the command line, and exit with its code."""
    words = sys.argv[1:]
    if not words or words[0] not in DBT:
        from dbt.adapters.paimon.cli import main as own

        own()
        return
    code = client.ask(words)
    if code is None:
        from dbt.cli.main import cli

        cli()
        return
    sys.exit(code)


if __name__ == "__main__":
    main()

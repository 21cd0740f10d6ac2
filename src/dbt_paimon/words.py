"""Parsing and making of command lines. Imports neither dbt nor Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

# dbt's commands, which `dbt-paimon` runs as dbt does.
DBT: Final = frozenset(
    (
        "build clean clone compile debug deps docs list ls parse retry run run-operation seed show snapshot source test"
    ).split()
)
# dbt's options with a value that only some of its commands accept.
OF_SOME: Final = frozenset(("--selector", "--target-path"))
# Commands of `dbt-paimon` that run in a shell with the project loaded, if there is one.
READING: Final = frozenset(("diff", "plan", "report"))
# dbt's options that may stand in front of a command and are followed by a value.
WITH_VALUE: Final = frozenset(
    (
        "--defer-state --deprecated-defer --deprecated-favor-state --deprecated-state --state --indirect-selection "
        "--log-file-max-bytes --log-format --log-format-file --log-level --log-level-file --log-path "
        "--maximum-seed-size-mib --partial-parse-file-path --printer-width --profile --record-timing-info -r --target "
        "-t --v2-parser --warn-error-options"
    ).split()
)


def options(values: Mapping[str, object]) -> list[str]:
    """Options by name (`project_dir`) as words of a command line; those that are not set are left out."""
    return [word for name, value in values.items() if value for word in (f"--{name.replace('_', '-')}", str(value))]


def command(words: Sequence[str]) -> str:
    """The command: the first word that is neither an option nor an option's value; '' without a command."""
    at = command_at(words)
    return words[at] if at < len(words) else ""


def command_at(words: Sequence[str]) -> int:
    """The position of the command; the number of words without a command."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in WITH_VALUE else 1
    return position


def without(words: Sequence[str], names: Collection[str]) -> tuple[list[str], list[str]]:
    """The words after a command without some options, and the words of these options with their values."""
    kept: list[str] = []
    taken: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        length = 2 if word in WITH_VALUE or word in OF_SOME else 1
        (taken if word.partition("=")[0] in names else kept).extend(words[position : position + length])
        position += length
    return kept, taken

"""Parses and builds command lines. Imports neither dbt nor Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

# dbt's commands, which `dbt-paimon` also accepts.
DBT: Final = frozenset(
    (
        "build clean clone compile debug deps docs list ls parse retry run run-operation seed show snapshot source test"
    ).split()
)
# dbt's options with a value that only some commands accept.
SOME_COMMANDS_ONLY: Final = frozenset(("--selector", "--target-path"))
# Commands of `dbt-paimon` that only read tables; they run in the project's shell, if there is one.
READ_COMMANDS: Final = frozenset(("diff", "lineage", "plan", "report"))
# The option with which `build` is `dbt-paimon`'s own command.
AFFECTED: Final = "--affected"
# dbt's options with a value that may precede the command.
WITH_VALUE: Final = frozenset(
    (
        "--defer-state --deprecated-defer --deprecated-favor-state --deprecated-state --state --indirect-selection "
        "--log-file-max-bytes --log-format --log-format-file --log-level --log-level-file --log-path "
        "--maximum-seed-size-mib --partial-parse-file-path --printer-width --profile --record-timing-info -r --target "
        "-t --v2-parser --warn-error-options"
    ).split()
)


def options(values: Mapping[str, object]) -> list[str]:
    """Convert options by name (`project_dir`) to command-line arguments; unset ones are left out."""
    return [word for name, value in values.items() if value for word in (f"--{name.replace('_', '-')}", str(value))]


def command(words: Sequence[str]) -> str:
    """The command: the first word that is neither an option nor an option's value, or ''."""
    at = command_at(words)
    return words[at] if at < len(words) else ""


def command_at(words: Sequence[str]) -> int:
    """The position of the command; the number of words if there is no command."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in WITH_VALUE else 1
    return position


def is_short_target(word: str) -> bool:
    """Whether a word is dbt's `-t`; its value may follow without a blank (`-tprod`)."""
    return word.startswith("-t")


def without(words: Sequence[str], names: Collection[str]) -> tuple[list[str], list[str]]:
    """Split words into two lists: all but the options `names`, and these options with their values."""
    kept: list[str] = []
    taken: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        length = 2 if word in WITH_VALUE or word in SOME_COMMANDS_ONLY else 1
        (taken if word.partition("=")[0] in names else kept).extend(words[position : position + length])
        position += length
    return kept, taken

"""cli.md: the commands of `dbt-paimon`, from click."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Final

import click

from dbt_paimon.cli import main
from dbt_paimon.entry import DBT
from reference.markdown import NOTHING, code, codes, page_link, table

# Command -> the page that explains it.
PAGES: Final = {
    "server": "deployment.md#a-warm-local-server",
    "stream": "streaming.md#continuous-streams",
    "plan": "results.md#before-a-run",
    "lineage": "column-lineage.md",
    "build": "column-lineage.md#build-what-a-change-affects",
    "report": "report.md",
    "diff": "pull-requests.md",
    "env": "environments.md",
    "shell": "shell.md",
}
_PAGE: Final = """\
# The command `dbt-paimon`

`make reference` writes this page from the command.

Exit codes: 0 on success; 1 if the command or a node failed; 2 for an invalid command line; 3 if an option `--fail-on…`
asks for it.

{commands}

## dbt's commands

`dbt-paimon` also accepts these commands of dbt. If a [shell](../shell.md) of the project is running, it runs them;
otherwise dbt does: {dbt}.

## Options of the target

These are the same as dbt's. All commands except `server status` accept them.

{target}
"""


def page() -> str:
    """The whole page."""
    commands = commands_of(main)
    shared = set(_shared(list(commands.values())))
    first = next(command for command in commands.values() if shared <= {param.name for param in command.params})
    return _PAGE.format(
        dbt=codes(sorted(DBT)),
        commands="\n\n".join(_command(path, command, shared) for path, command in commands.items()),
        target=_options([param for param in first.params if param.name in shared]),
    )


def commands_of(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """Every command by its full name, without groups."""
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        path = f"{before} {name}".strip()
        found |= commands_of(command, path) if isinstance(command, click.Group) else {path: command}
    return found


def _shared(commands: list[click.Command]) -> set[str]:
    """The names of the options that all commands with a target share."""
    names = [{param.name or "" for param in command.params} for command in commands]
    return reduce(set.intersection, [of for of in names if "target" in of])


def _command(path: str, command: click.Command, shared: set[str]) -> str:
    own = [param for param in command.params if param.name not in shared]
    arguments = [param for param in own if isinstance(param, click.Argument)]
    usage = " ".join(["dbt-paimon", path, *map(_usage, arguments)])
    link = page_link(PAGES[path.split(maxsplit=1)[0]])
    says = " ".join(str(command.help).split())
    options = _options([param for param in own if param not in arguments])
    return "\n\n".join(filter(None, (f"## `{usage}`", f"{says} ({link})", options)))


def _usage(argument: click.Argument) -> str:
    name = str(argument.name).upper()
    return name if argument.required else f"[{name}…]"


def _options(params: list[click.Parameter]) -> str:
    return table(("option", "takes", "default", ""), _rows(params))


def _rows(params: list[click.Parameter]) -> Iterator[tuple[str, ...]]:
    for param in params:
        assert isinstance(param, click.Option)
        yield codes(param.opts), _takes(param), _default(param), str(param.help)


def _takes(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return codes(option.type.choices)
    if isinstance(option.type, click.Path):
        return "a path"
    number = option.type in (click.INT, click.FLOAT)
    return code(option.metavar) if option.metavar else "a number" if number else "text"


def _default(option: click.Option) -> str:
    return code(option.default) if option.show_default else NOTHING

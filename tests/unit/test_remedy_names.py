"""Everything that messages tell users to type exists: operations, macros, commands, extras, flags and config keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import tomllib
from dbt.cli.main import cli as dbt_cli
from reference.described_keys import DBT_KEYS

from dbt.adapters.paimon.config_keys import keys_of
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spec.config import PaimonConfig
from dbt.adapters.paimon.spec.foreign_config import INSTEAD, INSTEAD_IN_INCREMENTAL
from dbt.adapters.paimon.spec.maintenance_policy import ACTIONS
from dbt_paimon.cli import main as our_cli

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "dbt"
MACROS = {
    name
    for path in (SOURCES / "include" / "paimon" / "macros").rglob("*.sql")
    for name in re.findall(r"{%-? *macro (\w+)\(", path.read_text("utf-8"))
}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
OF_DBT = {"ref", "source", "config", "this", "env_var", "var"}
# Flags of spark-submit, and of the server process.
OF_OTHERS = {"--conf", "--jars", "--packages", "--driver-class-path", "--properties-file", "--no-token"}


def flags(command: click.Command) -> Iterator[str]:
    """The flags of a command and its subcommands."""
    for option in command.params:
        yield from (*option.opts, *option.secondary_opts)
    for below in getattr(command, "commands", {}).values():
        yield from flags(below)


FLAGS = {"--help", *OF_OTHERS, *flags(dbt_cli), *flags(our_cli)}


def texts() -> Iterator[tuple[str, str]]:
    """(file, text) of each Python string except docstrings, and of each error message in a macro."""
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                yield path.name, node.value
    for path in SOURCES.rglob("*.sql"):
        for call in re.findall(r"raise_compiler_error\(.*?\) *[-%}]", path.read_text("utf-8"), re.DOTALL):
            yield path.name, call


TEXTS = list(texts())


@pytest.mark.parametrize(
    ("pattern", "known"),
    [
        # An operation whose name is taken by a macro of dbt is defined as `paimon__<name>_operation`.
        (
            r"dbt run-operation ([a-z_]\w*)",
            MACROS | {re.sub(r"^paimon__(\w+)_operation$", r"\1", name) for name in MACROS},
        ),
        (r"{{ ?([a-z]\w*)\(", MACROS | OF_DBT),
        (r"`dbt-paimon ([a-z]+)", {*our_cli.commands, *dbt_cli.commands}),
        (r"dbt-paimon\[(\w+)\]", set(EXTRAS)),
        (r"(?<![\w-])(--[a-z]+(?:-[a-z]+)*)\b(?!\w)", FLAGS),
    ],
    ids=["operations", "macros", "commands", "extras", "flags"],
)
def test_names_in_messages(pattern, known):
    found = {(match, file) for file, text in TEXTS for match in re.findall(pattern, text)}
    assert found
    assert {(name, file) for name, file in found if name not in known} == set()


def test_keys_that_replace_those_of_other_adapters():
    instead = [*INSTEAD, *INSTEAD_IN_INCREMENTAL]
    known = {
        *keys_of(PaimonConfig),
        *DBT_KEYS,
        *ACTIONS,
        *MACROS,
        *keys_of(PaimonCredentials),
        "order_by",
        "order_strategy",
        "meta",
        "tags",
    }
    named = {name for said in instead for name in re.findall(r"`(\w+)`|(?<!\w)(\w+)='", said) for name in name if name}
    assert len(named) > 10
    assert named - known == set()

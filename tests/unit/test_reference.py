"""docs/reference matches the code, and covers every key, macro, command and config error."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import click
import pytest
from dbt.parser import schemas
from dbt_common.clients import jinja
from dbt_common.utils import MACRO_PREFIX
from jinja2 import nodes
from reference import cli, errors, macros, pages
from reference.described_keys import FIELD_KEYS
from tests.unit import corpus

from dbt.adapters.paimon import spec
from dbt.adapters.paimon.capabilities.names import FIELD_ATTRIBUTES
from dbt.adapters.paimon.config_keys import keys_of
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spec.components import GROUPED_KEYS, TABLE_KEYS
from dbt.adapters.paimon.spec.config import STRATEGY_KEYS, STREAM_KEYS, VIEW_KEYS, PaimonConfig
from dbt.adapters.paimon.spec.maintenance_policy import ACTION_KEYS, MaintenancePolicy
from dbt.adapters.paimon.spec.strategies import STRATEGIES
from dbt.include import global_project, spark
from dbt_paimon.cli import main

MACROS = macros.in_jinja()
DESCRIBED = macros.described()


def test_pages():
    """`make reference` writes the pages."""
    assert pages.out_of_date() == []


# -- keys


def test_every_config_key():
    assert {*TABLE_KEYS, *STRATEGY_KEYS, *STREAM_KEYS, *VIEW_KEYS, "spark_config"} == set(keys_of(PaimonConfig))
    assert {name.replace("_", "-") for name in FIELD_KEYS} == set(FIELD_ATTRIBUTES)
    assert {*ACTION_KEYS, "on_failure"} == set(MaintenancePolicy.__dataclass_fields__)


def test_every_key_is_described():
    every = [*keys_of(PaimonConfig).values(), *keys_of(PaimonCredentials).values(), *FIELD_KEYS.values()]
    every += [key for keys, _ in GROUPED_KEYS.values() for key in keys.values()]
    every += [key for keys in ACTION_KEYS.values() for key in keys.values()]
    for key in every:
        assert key.meaning and not key.meaning.endswith("."), key


# -- macros


def looked_up_by_dbt() -> set[str]:
    """The names of all macros of dbt and dbt-spark, and of strategy macros, which dbt looks up by name."""
    found = {f"get_incremental_{name.replace('+', '_')}_sql" for name in STRATEGIES}
    for package in (global_project, spark):
        for path in Path(package.PACKAGE_PATH, "macros").rglob("*.sql"):
            for block in jinja.extract_toplevel_blocks(path.read_text(), {"macro"}, collect_raw_data=False):
                for macro in jinja.parse(block.full_block).find_all(nodes.Macro):
                    found.add(macro.name.removeprefix(MACRO_PREFIX))
    return found


def test_every_macro_for_users_is_described():
    operations = {name for name in MACROS if name.endswith("_operation")}
    plain = {name for name in MACROS if not name.startswith("paimon__")}
    assert set(DESCRIBED) == (plain - looked_up_by_dbt()) | operations


@pytest.mark.parametrize("name", DESCRIBED)
def test_macro(name: str):
    """In every project, dbt would warn about documented arguments that differ from those in Jinja."""
    properties = DESCRIBED[name]
    assert properties["description"].strip()
    assert [argument["name"] for argument in properties["arguments"]] == list(MACROS[name].defaults)
    # dbt-core 1.10 does not check types.
    is_valid_type = getattr(schemas, "is_valid_type", bool)
    for argument in properties["arguments"]:
        assert argument["description"].strip()
        assert is_valid_type(argument["type"]), argument


# -- the command


@pytest.mark.parametrize(("path", "command"), cli.commands_of(main).items(), ids=str)
def test_command(path: str, command: click.Command):
    assert command.help and path.split(maxsplit=1)[0] in cli.PAGES
    for param in command.params:
        assert isinstance(param, click.Argument) or param.help, param


# -- errors

# Functions whose messages need a table, a Spark session or dbt, not just a config.
ELSEWHERE = {"misspelt", "unknown_columns", "_check_foreign", "expiry_problems", "warnings"}


def reported(path: Path) -> Iterator[int]:
    """The lines of a module that report a problem in a config: `yield where, reason` or `problems.add(…)`."""
    for function in ast.walk(ast.parse(path.read_text())):
        if not isinstance(function, ast.FunctionDef) or function.name in ELSEWHERE:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
                yield node.lineno
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = ast.unparse(node.func.value)
                if node.func.attr in ("add", "add_ignored") and owner in (
                    "problems",
                    "reader",
                    "reader.problems",
                ):
                    yield node.lineno


def test_every_message_about_a_config_is_in_the_corpus():
    """The corpus reaches every line that reports a problem, so the errors page, made from the corpus, is complete."""
    rooms = [Path(folder) for folder in spec.__path__]
    wanted = {str(path): set(reported(path)) for room in rooms for path in room.rglob("*.py")}
    seen: dict[str, set[int]] = {name: set() for name in wanted}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        lines = seen.get(frame.f_code.co_filename)
        if lines is None:
            return None
        lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for case in corpus.bad():
            errors.message(case)
        for warned in corpus.warned():
            warned.told(warned.versions[0])
    finally:
        sys.settrace(before)
    assert sum(map(len, wanted.values())) > 150
    assert {name: lines - seen[name] for name, lines in wanted.items() if lines - seen[name]} == {}

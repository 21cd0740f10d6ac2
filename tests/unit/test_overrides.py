"""A project's overrides of dbt's macros: which are never called, and whether the list of those is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon import overrides
from dbt.adapters.paimon.plan import runs

PROFILE = "p: {target: t, outputs: {t: {type: paimon, schema: s, warehouse: /tmp/none, paimon_version: 0.9.0}}}"
MACROS = """
{% macro location_clause() %}{% endmacro %}
{% macro default__get_batch_size() %}{{ return(10) }}{% endmacro %}
{% macro paimon__post_snapshot(staging) %}{% endmacro %}
{% macro spark__get_incremental_append_sql(arg_dict) %}{% endmacro %}
{% macro default__dateadd(datepart, interval, moment) %}{% endmacro %}
{% macro paimon__dateadd(datepart, interval, moment) %}{% endmacro %}
{% macro default__get_merge_sql(target, source, unique_key, dest_columns, predicates) %}{% endmacro %}
{% macro default__generate_schema_name(name, node) %}{% endmacro %}
{% macro default__cents(x) %}{% endmacro %}
{% macro default__create_csv_table(model, agate_table) %}{% endmacro %}
{% macro load_all() %}{{ default__create_csv_table(none, none) }}{% endmacro %}
"""
# In another package, dbt looks for overrides only if the project's `dispatch` names the package.
PACKAGE = """
{% macro default__datediff(a, b, datepart) %}{% endmacro %}
{% macro default__partition_cols(label) %}{% endmacro %}
"""
# Called by methods of dbt's adapters, whatever the materialization; drop_table is also the name of an operation here.
BY_METHODS = {"alter_column_type", "create_schema", "drop_table"}


# The modules in this folder call macros by name.
PLAN = Path(runs.__file__).parent


@pytest.fixture(scope="module")
def macros(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    files = {
        "dbt_project.yml": "name: mine\nprofile: p\n",
        "profiles.yml": PROFILE,
        "macros/all.sql": MACROS,
        "packages.yml": "packages: [{local: dbt_packages/theirs}]",
        "dbt_packages/theirs/dbt_project.yml": "name: theirs\n",
        "dbt_packages/theirs/macros/all.sql": PACKAGE,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    places = ["--project-dir", str(folder), "--profiles-dir", str(folder), "--log-path", str(folder)]
    parsed = dbtRunner().invoke(["--quiet", "--no-write-json", "--no-partial-parse", "parse", *places])
    assert parsed.success, parsed.exception
    return parsed.result.macros


def named(macros, order=None):
    sentences = overrides.not_called(macros.values(), "mine", order)
    return {re.match(r"macro '(.*?)'", sentence)[1] for sentence in sentences}


NEVER = {"mine.location_clause", "mine.default__get_batch_size", "mine.paimon__post_snapshot"}
SHADOWED = "mine.spark__get_incremental_append_sql"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (None, {*NEVER, SHADOWED}),
        (["mine", "dbt"], NEVER),
        (["dbt", "mine"], {*NEVER, SHADOWED}),
        (["theirs", "dbt"], {"theirs.default__partition_cols"}),
        (["dbt", "theirs"], {"theirs.default__partition_cols", "theirs.default__datediff"}),
    ],
)
def test_macros_that_are_never_called_are_named(macros, order, expected):
    assert named(macros, order) == expected


def reached(macros, begin):
    found, todo = set(), [name for name, macro in macros.items() if begin(macro)]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += macros[name].depends_on.macros
    return {macros[name].name for name in found if macros[name].package_name in ("dbt", "dbt_spark")}


def test_each_macro_of_dbts_materializations_is_called_or_named(macros):
    """A project may override any macro that dbt dispatches."""
    by_python = {name for path in PLAN.glob("*.py") for name in re.findall(r'"(\w+)"', path.read_text("utf-8"))}
    own = reached(
        macros,
        lambda macro: (
            macro.package_name == "dbt_paimon"
            or macro.name == "materialization_unit_default"
            or macro.name in by_python
        ),
    )
    theirs = reached(
        macros,
        lambda macro: macro.name.startswith("materialization_") and macro.package_name in ("dbt", "dbt_spark"),
    )
    dispatched = {macro.name for macro in macros.values() if "adapter.dispatch" in macro.macro_sql}
    named = {name for _, names in overrides.NOT_CALLED for name in names.split()}
    writers = set(overrides._WRITERS.values())
    functions = {name for name in theirs if "function" in name or "udf" in name}
    left = theirs & dispatched - own - named - writers - functions - BY_METHODS
    assert sorted(left) == []
    assert not named & writers

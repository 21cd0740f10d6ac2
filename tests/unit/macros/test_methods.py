"""Macros call few methods of the adapter: Jinja renders SQL, and Python decides."""

from __future__ import annotations

import re
from pathlib import Path

from dbt.adapters.spark.impl import SparkAdapter
from dbt.context.providers import BaseDatabaseWrapper

from dbt.adapters.paimon.overrides import StrategyMacro
from dbt.adapters.paimon.plan.steps import NodeRun, SettledPlan, Step
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.writing.deletes import KeptDeletes
from dbt.adapters.paimon.writing.model_query import ModelQuery
from dbt.include import paimon

MOST = 63
FOLDER = Path(paimon.PACKAGE_PATH, "macros")
COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
# The adapter returns these classes to macros, which only read their fields.
RETURNED = (NodeRun, SettledPlan, Step, TableSpec, ExistingTable, KeptDeletes, ModelQuery, StrategyMacro)


def texts() -> list[str]:
    return [COMMENT.sub("", path.read_text("utf-8")) for path in FOLDER.rglob("*.sql")]


def test_methods_that_macros_call():
    called = {name for text in texts() for name in re.findall(r"\badapter\.(\w+(?:\.\w+)?)", text)}
    of_dbt = {*dir(SparkAdapter), *dir(BaseDatabaseWrapper)}
    own = {name for name in called if name.partition(".")[0] not in of_dbt}
    of_returned = {
        name for kind in RETURNED for name, value in vars(kind).items() if callable(value) and not name.startswith("_")
    }
    called_on_returned = {name for text in texts() for name in re.findall(r"\.(\w+)\(", text) if name in of_returned}
    assert called_on_returned == set()
    assert len(own) <= MOST, sorted(own)

"""What a query reads and calls, from the plan that Spark has analyzed but not optimized. No job runs.

In the analyzed plan, views are resolved to their tables, and `current_timestamp()` is still a call, which the
optimizer would replace with a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata import table_versions
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.sql import repeatable
from dbt.adapters.paimon.sql.data_types import type_text
from dbt.adapters.paimon.sql.scala import elements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PAIMON: Final = "org.apache.paimon.spark.SparkTable"
_FILE_INDEX: Final = "org.apache.spark.sql.execution.datasources.InMemoryFileIndex"
# With more files than this, changes are not detected: each file takes a few calls into the JVM.
_MAX_FILES: Final = 2000
_CLASS: Final = re.compile(r'"class":"([^"]+)"')
_STATIC: Final = re.compile(r'StaticInvoke","num-children":\d+,"staticObject":"?([^",]*)')
# Parts of a plan that differ each time the same query is analyzed: ids of expressions, CTEs, lambda variables and the
# process, and the creation times of views.
_IDS: Final = re.compile(r'ExprId","id":(\d+)')
_IDS_IN_TREE: Final = re.compile(r"#(\d+)|CTERelation(?:Def|Ref) (\d+)|lambda \w+?_(\d+)(?=#)")
_VOLATILE: Final = re.compile(
    r'"createTime":\d+|"lastAccessTime":-?\d+|"jvmId":"[0-9a-f-]+"|"cteId":\d+'
    r'|(?<=CTERelationDef","num-children":1,"child":0,)"id":\d+'
)
_LAMBDAS: Final = re.compile(r'(NamedLambdaVariable","num-children":0,"name":"\w+?)_\d+(?=")')
_AGGREGATE: Final = "org.apache.spark.sql.catalyst.plans.logical.Aggregate"
_NONDETERMINISTIC: Final = "org.apache.spark.sql.catalyst.expressions.Nondeterministic"
# Cache of `_is_nondeterministic` by class, the same for every session of the process.
_IS_NONDETERMINISTIC: dict[str, bool] = {}
# Nodes and functions that may return different rows each time, even if Spark calls them deterministic.
_PLANS: Final = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS: Final = "org.apache.spark.sql.catalyst.expressions."
_CHANGING: Final = frozenset(f"{_PLANS}{node}" for node in repeatable.CHOOSING_NODES) | {
    f"{_EXPRESSIONS}{name}"
    for name in repeatable.names_of_classes(repeatable.CHANCE, repeatable.OUTSIDE, repeatable.ORDER)
}
_TIES: Final = frozenset(f"{_EXPRESSIONS}{name}" for name in repeatable.TIES.values())
# By default, Spark shortens the text of a plan with many columns.
UNTRUNCATED: Final = {"spark.sql.debug.maxToStringFields": str(2**31 - 1)}


@dataclass(frozen=True)
class Analyzed:
    """Facts about an analyzed query.

    Attributes:
        text: the plan as a string, identical for the same query over the same views in any process.
        columns: name and Spark type of each column.
        classes: full class names of the plan's nodes and expressions.
        aggregates: the number of Aggregate nodes; DISTINCT is another node.
        nondeterministic: the classes that Spark declares nondeterministic.
        reads_clock: whether Spark would insert the current time, or a date such as 'today'.
        tables: version of each Paimon table that the query reads.
        files: size and modification time of each file that the query reads, by path.
        others: descriptions of other inputs, whose changes cannot be detected.
        reads_alike: whether the query returns the same rows each time, apart from ties and clocks (see `repeatable`).
    """

    text: str
    columns: tuple[tuple[str, str], ...]
    classes: frozenset[str]
    aggregates: int = 0
    nondeterministic: frozenset[str] = frozenset()
    reads_clock: bool = False
    tables: Mapping[TableName, table_versions.TableVersion] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    reads_alike: bool = True


def by_plan(frame: DataFrame) -> Analyzed:
    """Analyze a query without running it; the caller must set `UNTRUNCATED`."""
    jvm: Any = frame.sparkSession._jvm
    plan = frame._jdf.queryExecution().analyzed()
    plans = [plan, *elements(plan.subqueriesAll())]
    reader = _LeafReader(jvm)
    for part in plans:
        reader.add(part)
    texts = [str(part.toJSON()) for part in plans]
    as_json = texts[0]
    found = _CLASS.findall(as_json)
    classes = frozenset(found)
    # Classes of a catalog's functions, without those that implement Spark's own functions and types.
    foreign = {name for name in _STATIC.findall(as_json) if not name.startswith("org.apache.spark.sql.catalyst.")}
    trees = (_with_numbered_ids(str(part.treeString()), _IDS_IN_TREE) for part in plans)
    stable_json = _with_numbered_ids(_LAMBDAS.sub(r"\1", _VOLATILE.sub("", as_json)), _IDS)
    return Analyzed(
        "\n".join((*trees, stable_json, *reader.texts)),
        tuple((field.name, type_text(field.dataType)) for field in frame.schema.fields),
        classes | foreign,
        found.count(_AGGREGATE),
        frozenset(name for name in classes if _is_nondeterministic(jvm, name)),
        any(_reads_clock(jvm, part) for part in plans),
        reader.tables,
        reader.files,
        tuple(reader.others),
        _reads_alike(plan, texts, _CHANGING),
    )


def reads_alike(frame: DataFrame) -> bool:
    """Whether every read of a query in a statement returns the same rows (see `repeatable`)."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    if repeatable.is_chosen_by_clock(str(plan.treeString())):
        return False
    texts = (str(part.toJSON()) for part in (plan, *elements(plan.subqueriesAll())))
    return _reads_alike(plan, texts, _CHANGING | _TIES)


def _reads_alike(plan: Any, as_json: Iterable[str], changing: frozenset[str]) -> bool:
    return bool(plan.deterministic()) and not any(changing & set(_CLASS.findall(text)) for text in as_json)


class _LeafReader:
    """Collects what the nodes of a plan read."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self.texts: list[str] = []
        self.tables: dict[TableName, table_versions.TableVersion] = {}
        self.files: dict[str, str] = {}
        self.others: list[str] = []

    def add(self, node: Any) -> None:
        """Add a node and its descendants."""
        kind = node.getClass().getSimpleName()
        if kind == "DataSourceV2Relation":
            self._table(node)
        elif kind == "LogicalRelation":
            self._files(node)
        elif kind == "LocalRelation":
            # Neither the tree nor the JSON shows the rows.
            self.texts.append(str(node.data().toString()))
        elif kind == "View":
            self.texts.append(str(node.desc().viewText()))
            settings = str(node.desc().viewSQLConfigs().mkString("\0"))
            self.texts.append("\n".join(sorted(settings.split("\0"))))
        for child in elements(node.children()):
            self.add(child)

    def _table(self, node: Any) -> None:
        shown = str(node.name())
        if node.table().getClass().getName() != _PAIMON or not node.identifier().isDefined():
            self.others.append(f"{shown}, which is not a Paimon table")
            return
        identifier = node.identifier().get()
        schema = ".".join(identifier.namespace())
        name = TableName(str(node.catalog().get().name()), schema, str(identifier.name()))
        if not node.options().isEmpty():
            self.others.append(f"{shown} with its own options")
            return
        version = table_versions.table_version_of(self._jvm, node.table().getTable())
        if version.problem:
            self.others.append(f"{schema}.{name.identifier}, which {version.problem}")
            return
        if self.tables.setdefault(name, version) != version:
            # Another writer committed between the two reads.
            self.others.append(f"{schema}.{name.identifier}, which is changing right now")
        self.texts.append(f"table {name}")

    def _files(self, node: Any) -> None:
        relation = node.relation()
        if (
            relation.getClass().getSimpleName() != "HadoopFsRelation"
            or node.catalogTable().isDefined()
            or relation.location().getClass().getName() != _FILE_INDEX
        ):
            self.others.append("a relation whose files are not known")
            return
        found = relation.location().allFiles()
        if found.size() > _MAX_FILES:
            self.others.append(f"{found.size():,} files")
            return
        for status in elements(found):
            self.files[str(status.getPath().toString())] = f"{status.getLen()} {status.getModificationTime()}"
        self.texts.append(f"files {relation.fileFormat().toString()} {relation.options().toString()}")


def _with_numbered_ids(text: str, ids: re.Pattern[str]) -> str:
    """Replace ids with numbers in order of occurrence. Each group of the pattern `ids` matches one kind of id."""
    numbers: dict[tuple[int, str], int] = {}

    def number(found: re.Match[str]) -> str:
        kind = found.lastindex or 0
        before, after = found.start(kind) - found.start(), found.end(kind) - found.start()
        count = numbers.setdefault((kind, found[kind]), len(numbers))
        return f"{found[0][:before]}{count}{found[0][after:]}"

    return ids.sub(number, text)


def _reads_clock(jvm: Any, plan: Any) -> bool:
    """Whether Spark's rules that insert the current time would change a plan."""
    rules = jvm.org.apache.spark.sql.catalyst.optimizer
    replaced = rules.ReplaceExpressions.apply(plan)
    return not all(
        rule.apply(replaced).fastEquals(replaced) for rule in (rules.ComputeCurrentTime, rules.SpecialDatetimeValues)
    )


def _is_nondeterministic(jvm: Any, name: str) -> bool:
    if name not in _IS_NONDETERMINISTIC:
        loader = jvm.java.lang.Class
        _IS_NONDETERMINISTIC[name] = bool(loader.forName(_NONDETERMINISTIC).isAssignableFrom(loader.forName(name)))
    return _IS_NONDETERMINISTIC[name]

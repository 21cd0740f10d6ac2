"""`erase`: finds the rows of a key in tables and their files, and removes them, or reports why it cannot.

Data files are read by Spark's own readers, not through Paimon. These readers see rows that Paimon hides (older
versions, deletes, changelog rows) and files that Paimon no longer knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.maintenance.compaction import compaction_problems
from dbt.adapters.paimon.metadata import files, schemas, snapshots, tags
from dbt.adapters.paimon.metadata.files import file_name
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import deleting
from dbt.adapters.paimon.spec.components import iceberg
from dbt.adapters.paimon.spec.table import TableSpec, option_of_branch
from dbt.adapters.paimon.sql.data_types import is_text
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.streaming.dead_letters import dead_letters_of
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.time_travel.states import branch_of

if TYPE_CHECKING:
    from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node
    from dbt.adapters.paimon.plan.api import Plans

logger = AdapterLogger("Paimon")
# Formats of data files that Spark reads without additional jars.
FORMATS: Final = ("parquet", "orc")
_KEY_TYPE: Final = re.compile(r"(tiny|small|big)?int|decimal\(.*|date|string")
# Paimon's data and changelog files, whatever their format, are in folders of these names (FileStorePathFactory).
_IN_BUCKET: Final = re.compile(r"/bucket-[^/]+/[^/]+\Z")
# With these options, files outlive the table snapshots that created them, or are outside the table's folder.
_KEEPS: Final = ("changelog.num-retained.", "changelog.time-retained")
_OUTSIDE: Final = "data-file.external-paths"
# The columns of a dead letter that are searched.
_MESSAGE: Final = {"reason": "string", "key": "binary", "value": "binary"}
# Not `--full-refresh`, which would overwrite the rows but keep the old table snapshots and tags.
_ADVICE: Final = (
    "If its rows can be computed again without the key, drop the table (dbt run-operation drop_table) and run its model"
)
_VIEW: Final = "dbt_erase_files"
# Makes a commit merge all manifests (ManifestFileMerger), because old ones have minima and maxima of removed files.
_NEW_MANIFESTS: Final = {"spark.paimon.manifest.full-compaction-threshold-size": "1 b"}
_ALL: Final = 2**31 - 1
_SHOWN: Final = 5


@dataclass(frozen=True)
class Consent:
    """The arguments that allow `erase` to delete more than the rows of the key."""

    drop_tags: bool
    drop_branches: bool
    drop_dead_letters: bool


@dataclass(frozen=True)
class Target:
    """A table with columns that may hold the key.

    Attributes:
        columns: the columns of `condition`, with the types that Spark reads from a file.
        condition: SQL that is true for rows of the key.
        letters: whether this is a dead letters table.
    """

    relation: PaimonRelation
    spec: TableSpec
    columns: Mapping[str, str]
    condition: str
    letters: bool = False


@dataclass(frozen=True)
class Held:
    """What holds the key in a table: the number of rows, names of files, tags and branches.

    Attributes:
        all_files, snapshots: the number of all data files and table snapshots.
    """

    rows: int
    files: frozenset[str]
    all_files: int
    tags: tuple[str, ...]
    branches: tuple[str, ...]
    snapshots: int

    def __str__(self) -> str:
        parts = [
            counted(self.rows, "row"),
            f"{len(self.files):,} of {counted(self.all_files, 'data file')}",
            *(f"tag {name}" for name in self.tags),
            *(f"branch {name}" for name in self.branches),
        ]
        return f"{', '.join(parts)}; {counted(self.snapshots, 'table snapshot')}"


def target_of(
    relation: PaimonRelation, existing: ExistingTable, key: Mapping[str, object], *, letters: bool = False
) -> Target | None:
    """The table as a target; None if it lacks a column of the key.

    Raises:
        DbtRuntimeError: a column of the key has an unsuitable type.
    """
    spec = existing.as_spec()
    if letters:
        condition = " and ".join(map(_contains_sql, key.values()))
        return Target(relation, spec, _MESSAGE, condition, letters=True)
    types = {column.name.lower(): (column.name, column.data_type) for column in existing.columns}
    if not {name.lower() for name in key} <= types.keys():
        return None
    columns, tests = {}, []
    for name, value in key.items():
        column, data_type = types[name.lower()]
        columns[column] = read_as = "string" if is_text(data_type) else data_type
        if not _KEY_TYPE.fullmatch(read_as):
            raise DbtRuntimeError(
                f"erase: {relation.shown}: {column} is a {data_type}, but a key must be a string, an integer, a "
                "decimal or a date. Give a different column of the same rows."
            )
        tests.append(f"{quoted(column)} = cast({string_literal(str(value))} as {read_as})")
    return Target(relation, spec, columns, " and ".join(tests))


def checked_key(key: object) -> Mapping[str, object]:
    """The key in the user's argument; raises DbtRuntimeError if it does not map columns to single values."""
    if isinstance(key, Mapping) and key and all(_is_single(value) for value in key.values()):
        return {str(name): value for name, value in key.items()}
    raise DbtRuntimeError(
        f"erase: key is {key!r}. Give each column of the key a value: --args '{{key: {{customer_id: 17}}}}'"
    )


def shown_key(key: Mapping[str, object]) -> str:
    """The key as a condition, for the log; only strings are in quotes."""
    return " and ".join(
        f"{name} = {string_literal(value) if isinstance(value, str) else value}" for name, value in key.items()
    )


def unsearchable(found: Target, schemas: Sequence[Schema]) -> Iterator[str]:
    """Each reason why a search may miss files with the key, with a remedy; `schemas`: all schemas of the table."""
    if _OUTSIDE in found.spec.options:
        yield f"{_OUTSIDE} puts files outside the table's folder, where erase does not look. {_ADVICE}"
    known = [{field.name: (field.id, field.spark_type) for field in schema.fields} for schema in schemas]
    for name in found.columns:
        if len({schema.get(name) for schema in known}) > 1:
            yield f"{name} was added or renamed, or its type changed, so older files cannot be searched. {_ADVICE}"


def why_not(found: Target, versions: Versions) -> Iterator[str]:
    """Each reason why the key cannot be erased from a table, with a remedy."""
    spec = found.spec
    if refused := deleting.refusal(spec, versions):
        yield refused
    if spec.primary_key:
        yield from compaction_problems(spec, {}, versions)
    if in_path := [name for name in spec.partition_by if name in found.columns]:
        yield f"{in_path[0]} is a partition column: names of folders hold it. {_ADVICE} with a different partition_by"
    if iceberg.is_on(spec):
        yield f"it has Iceberg metadata, which Paimon does not clean up. {_ADVICE}"
    if kept := [name for name in spec.options if name.startswith(_KEEPS)]:
        yield f"{kept[0]} keeps its changelog longer than its table snapshots. Unset it, and wait until it expires"


def missing_consent(found: Target, held: Held, consent: Consent) -> Iterator[str]:
    """What would be deleted besides rows of the key, each with the missing argument that would allow it."""
    if held.tags and not consent.drop_tags:
        yield f"tags: {', '.join(held.tags)} (drop_tags: true)"
    if held.branches and not consent.drop_branches:
        yield f"branches: {', '.join(held.branches)} (drop_branches: true)"
    if found.letters and held.rows and not consent.drop_dead_letters:
        yield f"{counted(held.rows, 'dead letter')} (drop_dead_letters: true)"


def files_view_sql(location: str, file_format: str = "", columns: Mapping[str, str] | None = None) -> str:
    """The statement that creates a view of a table's rows in files of one format; without a format, of all files."""
    listed = ", ".join(f"{quoted(name)} {data_type}" for name, data_type in (columns or {}).items())
    options = {"path": location, "recursiveFileLookup": "true"}
    if file_format:
        # The search must fail if a file cannot be read.
        options |= {"pathGlobFilter": f"*.{file_format}", "ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
    given = ", ".join(f"{name} {string_literal(value)}" for name, value in options.items())
    return (
        f"create or replace temporary view {_VIEW} {f'({listed})' * bool(listed)} "
        f"using {file_format or 'binaryFile'} options ({given})"
    )


def data_files(paths: Iterable[str]) -> tuple[set[str], list[str]]:
    """The names of a table's data files among all its files, and the paths of those that Spark cannot read."""
    found = list(paths)
    readable = {file_name(path) for path in found if path.endswith(tuple(f".{each}" for each in FORMATS))}
    unreadable = [
        path for path in found if _IN_BUCKET.search(path) and file_name(path).removesuffix(".index") not in readable
    ]
    return readable, unreadable


def _is_single(value: object) -> bool:
    return value not in (None, "") and not isinstance(value, (Mapping, list, tuple))


def _contains_sql(value: object) -> str:
    """SQL that is true if a message contains a value as a whole word."""
    pattern = f"(^|[^0-9A-Za-z_]){re.escape(str(value))}([^0-9A-Za-z_]|$)"
    texts = ", ".join(f"cast({quoted(name)} as string)" for name in _MESSAGE)
    return f"concat_ws(' ', {texts}) rlike {string_literal(pattern)}"


class Erasures:
    """Finds a key in tables and their files, and removes it."""

    def __init__(self, adapter: AdapterProtocol, plans: Plans) -> None:
        self._adapter = adapter
        self._plans = plans

    def run(
        self, key: object, named: Sequence[PaimonRelation], nodes: Iterable[Node], consent: Consent, *, dry_run: bool
    ) -> None:
        """List what holds a key; unless it is a dry run, remove the key, and check that no file still holds it.

        Args:
            key: the key's values by column.
            named: the tables; if empty, all tables of `nodes` with the key's columns.
            nodes: the project's nodes and sources.

        Raises:
            DbtRuntimeError: the key cannot be erased from a table or consent is missing, and nothing was done; or files
                still hold the key.
        """
        found = []
        problems = []
        values = checked_key(key)
        # Shows the value as YAML has parsed it: 00017 is octal for 15.
        logger.info(f"erase: looking for rows with {shown_key(values)}")
        for target in self._targets(values, named, nodes):
            held = self._held(target)
            found.append((target, held))
            logger.info(f"{target.relation.shown}: {held}")
            problems += [f"{target.relation.shown}: {why}" for why in self._problems(target, held)]
        if problems:
            raise DbtRuntimeError("erase cannot remove the key; nothing was done:\n  " + "\n  ".join(problems))
        if self._may_erase(found, consent, dry_run=dry_run):
            for target, held in found:
                self._erase(target, held)

    @staticmethod
    def _may_erase(found: Sequence[tuple[Target, Held]], consent: Consent, *, dry_run: bool) -> bool:
        """Whether there is anything to remove, and this is not a dry run; refuses missing consent."""
        wanted = [
            f"{target.relation.shown}: {what}"
            for target, held in found
            for what in missing_consent(target, held, consent)
        ]
        if not any(held.rows or held.files for _, held in found):
            logger.info(f"erase: none of {counted(len(found), 'table')} with the key's columns holds the key")
        elif dry_run:
            also = "".join(f"\n  {what}" for what in wanted)
            agree = f", and agree to what else is deleted:{also}" if also else ""
            logger.info(f"erase: nothing was done. To remove the rows for good, add dry_run: false{agree}")
        elif wanted:
            raise DbtRuntimeError(
                "erase also has to delete the following; nothing was done. To agree, add the arguments:\n  "
                + "\n  ".join(wanted)
            )
        else:
            return True
        return False

    # -- what holds the key -----------------------------------------------------------------------------------------

    def _targets(
        self, key: Mapping[str, object], named: Sequence[PaimonRelation], nodes: Iterable[Node]
    ) -> Iterator[Target]:
        """The tables that have the key's columns, each followed by its tables of kept deletes and of dead letters."""
        for relation in named or self._of_project(nodes):
            existing = self._plans.tables.existing(relation)
            target = target_of(relation, existing, key)
            if target is None:
                if named:
                    raise DbtRuntimeError(
                        f"erase: {relation.shown} does not have the columns {', '.join(key)}; nothing was done. "
                        "Leave the table out, or erase by columns that it has."
                    )
                continue
            yield target
            for kept in self._plans.deletes.relations(relation):
                if beside := target_of(kept, self._plans.tables.existing(kept), key):
                    yield beside
            if letters := self._adapter.get_relation(*dead_letters_of(relation).parts):
                existing = self._plans.tables.existing(letters)
                if beside := target_of(letters, existing, key, letters=True):
                    yield beside

    def _of_project(self, nodes: Iterable[Node]) -> Iterator[PaimonRelation]:
        seen = set()
        for node in sorted(nodes, key=lambda node: str(node["name"])):
            if (
                node["resource_type"] not in ("model", "seed", "snapshot", "source")
                or node["database"] not in self._adapter.credentials.paimon_catalogs
            ):
                continue
            name = node.get("alias") or node.get("identifier")
            relation = self._adapter.get_relation(node["database"], node["schema"], name)
            if relation is not None and relation.is_table and relation.parts not in seen:
                seen.add(relation.parts)
                yield relation

    def _held(self, target: Target) -> Held:
        relation = target.relation
        found, number = self._search(target)
        query = self._adapter.query
        states = [
            (tag, files.state(relation, f"version as of {string_literal(tag)}"))
            for tag in sorted(tags.tags(query, relation))
        ]
        names = sorted(tags.branches(query, relation))
        branches = [(branch, files.state(branch_of(relation, branch), "")) for branch in names]
        kept_tags, kept_branches = (
            tuple(name for name, state in each if found and found & files.names(query, state))
            for each in (states, branches)
        )
        kept = snapshots.range_by_sql(query, relation).count
        return Held(self._rows(target), found, number, kept_tags, kept_branches, kept)

    def _search(self, target: Target) -> tuple[frozenset[str], int]:
        """The names of the files in which Spark's readers find the key, and the number of all files."""
        ((_, location),) = self._adapter.query(f"show tblproperties {target.relation.render()} ('path')")
        self._adapter.query(files_view_sql(location))
        readable, unreadable = data_files(self._column(f"select path from {_VIEW}"))
        if unreadable:
            raise DbtRuntimeError(
                f"erase: {target.relation.shown} has files that Spark cannot search, such as "
                f"{unreadable[0]}; nothing was done to them. {_ADVICE} with file_format: parquet."
            )
        found: set[str] = set()
        for each in FORMATS:
            if any(name.endswith(f".{each}") for name in readable):
                self._adapter.query(files_view_sql(location, each, target.columns))
                sql = f"select distinct input_file_name() from {_VIEW} where {target.condition}"
                found |= {file_name(path) for path in self._column(sql)}
        self._adapter.query(f"drop view {_VIEW}")
        return frozenset(found), len(readable)

    def _problems(self, target: Target, held: Held) -> Iterator[str]:
        relation, builds = target.relation, self._plans.builds
        yield from unsearchable(target, schemas.newest_first(self._adapter.query, relation))
        staged = builds.staged(relation)
        for left in [*builds.leftovers(relation), *([staged] if staged else [])]:
            yield f"{left.identifier}, which a run left behind, may hold the key too. Run its model, or drop that table"
        if held.rows or held.files:
            yield from why_not(target, self._adapter.versions)
            for branch in held.branches:
                if option := option_of_branch(target.spec.options, branch):
                    yield f"the table reads its branch {branch} ({option}), which has the key. Remove the option first"
            if consumers := sorted(tags.consumers(self._adapter.query, relation)):
                names = ", ".join(consumers)
                yield f"consumers ({names}) keep its old table snapshots. Let the consumers read on, or delete them"
        if held.rows and not held.files:
            yield f"Paimon finds {counted(held.rows, 'row')} of the key, but Spark finds no file with it. {_ADVICE}"

    # -- removal ----------------------------------------------------------------------------------------------------

    def _erase(self, target: Target, before: Held) -> None:
        relation = target.relation
        with self._plans.builds.alone(relation):
            # Since the search, `apply_changes` may have added the key to a table of kept deletes.
            if not before.files and not self._rows(target):
                return
            self._plans.row_deletes.run(relation, target.condition)
            if target.spec.primary_key:
                self._call("compact", relation)
            self._refuse_hidden(target)
            for branch in before.branches:
                self._call("delete_branch", relation, branch=branch)
            for tag in before.tags:
                self._call("delete_tag", relation, tag=tag)
            sql = f"analyze table {relation.render()} compute statistics"
            analyze = Statement(sql, "analyze", _NEW_MANIFESTS, target=relation.parts)
            self._plans.maintenance.run_operation(relation, "analyze", analyze)
            self._call("expire_snapshots", relation, retain_max=1, retain_min=1, max_deletes=_ALL)
            after = self._held(target)
            if after.files:
                self._call("remove_orphan_files", relation, dry_run=False)
                after = self._held(target)
        if after.files or after.rows:
            raise DbtRuntimeError(_left(relation, after.files))
        logger.info(f"{relation.shown} erased: {after} (before: {before})")

    def _refuse_hidden(self, target: Target) -> None:
        """Raise DbtRuntimeError if current files still hold rows that only deletion vectors hide."""
        current = self._search(target)[0] & files.names(self._adapter.query, files.state(target.relation, ""))
        if current:
            name = target.relation.render()
            raise DbtRuntimeError(
                f"erase: the rows of the key are deleted from {target.relation.shown}, but deletion vectors only hide "
                f"them in {counted(len(current), 'file')}. Rewrite the table while nothing else writes to it, then "
                f"erase again: insert overwrite {name} select * from {name}"
            )

    def _call(self, procedure: str, relation: PaimonRelation, **arguments: object) -> None:
        maintenance = self._plans.maintenance
        maintenance.run_operation(relation, procedure, maintenance.call(procedure, relation, arguments))

    # -- queries ----------------------------------------------------------------------------------------------------

    def _rows(self, target: Target) -> int:
        sql = f"select count(*) from {target.relation.render()} where {target.condition}"
        return int(self._adapter.query(sql)[0][0])

    def _column(self, sql: str) -> list[str]:
        return [str(value) for (value,) in self._adapter.query(sql)]


def _left(relation: PaimonRelation, files: Iterable[str]) -> str:
    """The error message about files that still hold the key."""
    names = sorted(files)
    listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return (
        f"erase: the rows of the key are deleted from {relation.shown}, but {counted(len(names), 'file')} in its "
        f"folder still hold them: {listed}. These files are from a branch, a failed write, or a concurrent write. "
        "Erase again later: files that no table snapshot uses are deleted once they are a day old, or sooner by "
        "remove_orphan_files with older_than, if nothing writes to the table now."
    )

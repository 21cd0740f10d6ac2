"""`erase`: the tables that hold a key, what keeps its rows there, and why Paimon or Spark cannot remove or find them.

A data file is read by Spark's own readers, not through Paimon: they see rows that Paimon hides (older versions,
deletes, changelog files) and files that Paimon no longer knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.maintenance.compaction import compaction_problems
from dbt.adapters.paimon.metadata.files import file_name
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.formatting import counted
from dbt.adapters.paimon.spec import deleting
from dbt.adapters.paimon.spec.components import iceberg
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.tables.changeset import ExistingTable

# Formats of data files that every Spark reads.
FORMATS: Final = ("parquet", "orc")
_TEXT: Final = re.compile(r"string|(var)?char\b.*")
_COMPARED: Final = re.compile(r"(tiny|small|big)?int|decimal\(.*|date|string")
# Paimon's data and changelog files, whatever their format, are in folders of these names (FileStorePathFactory).
_IN_BUCKET: Final = re.compile(r"/bucket-[^/]+/[^/]+\Z")
_INDEX: Final = ".index"
# With these, files outlive the table snapshots that made them, or are outside the table's folder.
_KEEPS: Final = ("changelog.num-retained.", "changelog.time-retained")
_OUTSIDE: Final = "data-file.external-paths"
# What a dead letter holds: the fault, and the message as it came.
_MESSAGE: Final = {"reason": "string", "key": "binary", "value": "binary"}
REBUILD: Final = "Build the table again without the rows (dbt run --full-refresh)"


@dataclass(frozen=True)
class Consent:
    """The arguments that allow `erase` to delete more than rows of the key."""

    drop_tags: bool
    drop_branches: bool
    drop_dead_letters: bool


@dataclass(frozen=True)
class Target:
    """A table with columns that may hold the key.

    Attributes:
        columns: the columns of `condition`, with the types by which Spark reads them from a file.
        condition: whether a row is of the key, in SQL.
        letters: whether it is a table of dead letters.
    """

    relation: PaimonRelation
    spec: TableSpec
    columns: Mapping[str, str]
    condition: str
    letters: bool = False


@dataclass(frozen=True)
class Held:
    """What holds the key in a table: rows, names of files among `all_files`, tags, branches; and all its snapshots."""

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


def target(
    relation: PaimonRelation, existing: ExistingTable, key: Mapping[str, object], *, letters: bool = False
) -> Target | None:
    """The table as a target; None if it lacks a column of the key.

    Raises:
        DbtRuntimeError: a value is empty, or of a type that is not compared.
    """
    spec = existing.as_spec()
    if letters:
        words = " and ".join(map(_says, key.values()))
        return Target(relation, spec, _MESSAGE, words, letters=True)
    types = {column.name.lower(): (column.name, column.data_type) for column in existing.columns}
    if not {name.lower() for name in key} <= types.keys():
        return None
    columns, tests = {}, []
    for name, value in key.items():
        column, data_type = types[name.lower()]
        columns[column] = read_as = "string" if _TEXT.fullmatch(data_type) else data_type
        if not _COMPARED.fullmatch(read_as):
            raise DbtRuntimeError(
                f"erase: {relation.shown}: {column} is a {data_type}, and a key is a text, a whole number, a decimal "
                "or a date. Give another column of the same rows."
            )
        tests.append(f"{quoted(column)} = cast({string_literal(str(value))} as {read_as})")
    return Target(relation, spec, columns, " and ".join(tests))


def checked_key(key: object) -> Mapping[str, object]:
    """The key of the user's argument.

    Raises:
        DbtRuntimeError: it is not a mapping of columns to single values.
    """
    if isinstance(key, Mapping) and key and all(_is_single(value) for value in key.values()):
        return {str(name): value for name, value in key.items()}
    raise DbtRuntimeError(
        f"erase: key is {key!r}. Give each column of the key a value: --args '{{key: {{customer_id: 17}}}}'"
    )


def unsearchable(found: Target, schemas: Sequence[Schema]) -> Iterator[str]:
    """Each reason why files may hold the key unseen, with a remedy; `schemas` are all of the table."""
    if _OUTSIDE in found.spec.options:
        yield f"{_OUTSIDE} has files outside its folder, where erase does not look. {REBUILD}"
    known = [{field.name: (field.id, field.spark_type) for field in schema.fields} for schema in schemas]
    for name in found.columns:
        if len({schema.get(name) for schema in known}) > 1:
            yield f"{name} was added, renamed or changed its type, so older files cannot be searched for it. {REBUILD}"


def why_not(found: Target, versions: Versions, consumers: Sequence[str]) -> Iterator[str]:
    """Each reason why a table that holds the key cannot be erased from, with a remedy."""
    spec = found.spec
    if refused := deleting.refusal(spec, versions):
        yield refused
    if spec.primary_key:
        yield from compaction_problems(spec, {}, versions)
    if in_path := [name for name in spec.partition_by if name in found.columns]:
        yield f"{in_path[0]} is a partition column: names of folders hold it. {REBUILD} and another partition_by"
    if iceberg.is_on(spec):
        yield f"it has Iceberg metadata, which Paimon does not clean up. {REBUILD}"
    if kept := [name for name in spec.options if name.startswith(_KEEPS)]:
        yield f"{kept[0]} keeps its changelog longer than its table snapshots. Unset it, and wait until it expires"
    if consumers:
        yield f"consumers ({', '.join(consumers)}) keep its old table snapshots. Let them read on, or delete them"


def missing_consent(found: Target, held: Held, consent: Consent) -> Iterator[str]:
    """What would be deleted besides rows of the key, each with the argument that allows it, unless it is given."""
    if held.tags and not consent.drop_tags:
        yield f"tags: {', '.join(held.tags)} (drop_tags: true)"
    if held.branches and not consent.drop_branches:
        yield f"branches: {', '.join(held.branches)} (drop_branches: true)"
    if found.letters and held.rows and not consent.drop_dead_letters:
        yield f"{counted(held.rows, 'dead letter')} (drop_dead_letters: true)"


def files_view_sql(view: str, location: str, file_format: str = "", columns: Mapping[str, str] | None = None) -> str:
    """The statement that creates a view of a table's files of a format, read by Spark; '' lists the files of any."""
    listed = ", ".join(f"{quoted(name)} {data_type}" for name, data_type in (columns or {}).items())
    options = {"path": location, "recursiveFileLookup": "true"}
    if file_format:
        # A file that cannot be read fails the search.
        options |= {"pathGlobFilter": f"*.{file_format}", "ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
    given = ", ".join(f"{name} {string_literal(value)}" for name, value in options.items())
    return (
        f"create or replace temporary view {view} {f'({listed})' * bool(listed)} "
        f"using {file_format or 'binaryFile'} options ({given})"
    )


def data_files(paths: Iterable[str]) -> tuple[set[str], list[str]]:
    """The names of a table's data files among all its files, and the paths of those that Spark cannot read."""
    found = list(paths)
    readable = {file_name(path) for path in found if path.endswith(tuple(f".{each}" for each in FORMATS))}
    unreadable = [
        path for path in found if _IN_BUCKET.search(path) and file_name(path).removesuffix(_INDEX) not in readable
    ]
    return readable, unreadable


def _is_single(value: object) -> bool:
    return value not in (None, "") and not isinstance(value, (Mapping, list, tuple))


def _says(value: object) -> str:
    """Whether a message has a value as a whole word."""
    pattern = f"(^|[^0-9A-Za-z_]){re.escape(str(value))}([^0-9A-Za-z_]|$)"
    texts = ", ".join(f"cast({quoted(name)} as string)" for name in _MESSAGE)
    return f"concat_ws(' ', {texts}) rlike {string_literal(pattern)}"

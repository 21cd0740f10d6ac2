"""Folders of files as inputs of a stream: JSON (one object per line), CSV, Parquet.

A file is read once, identified by its name: what is appended to it later is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors.messages import error_text
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.streaming import checkpoints
from dbt.adapters.paimon.streaming.descriptions import (
    CSV,
    FILE_METADATA,
    PARQUET,
    Description,
    SourceColumn,
    shown_location,
)
from dbt.adapters.paimon.streaming.formats import messages
from dbt.adapters.paimon.streaming.formats.messages import SCRATCH, ValueFormat, parsed
from dbt.adapters.paimon.streaming.hadoop_files import HadoopFolder
from dbt.adapters.paimon.streaming.inputs import Input, StreamCall

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CORRUPT: Final = f"{SCRATCH}corrupt"
# Spark's default is a week, relative to the newest file: an older file that arrives late would be skipped silently.
_DEFAULTS: Final = {"maxFileAge": "36500d"}
_CSV_DEFAULTS: Final = {"header": "true"}
_CSV_OPTIONS: Final = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT, "enforceSchema": "false"}
_RAW: Final = (
    "cast(null as binary) as key",
    "_metadata.file_path as place",
    "_metadata.file_modification_time as received_at",
    "_metadata.file_path as _file",
)


# The number of files checked concurrently.
_AT_ONCE: Final = 8
# CSVHeaderChecker of Spark.
_HEADER: Final = re.compile(
    r"CSV header does not conform to the schema\.\s+Header: (?P<found>[^\n]*)\s+Schema: (?P<wanted>[^\n]*)\n"
    r".*?CSV file: (?P<file>[^\n]*)",
    re.DOTALL,
)
# The same class reports another number of columns this way.
_WIDTH: Final = re.compile(
    r"Number of column in CSV header is not equal to number of fields in the schema:\s+"
    r"Header length: (?P<found>\d+), schema size: \d+\s+CSV file: (?P<file>[^\n]*)"
)


def header_problem(text: str) -> str:
    """What is wrong with the header of a CSV file that ended a stream, and the remedy; empty for any other error.

    Args:
        text: Spark's error.
    """
    found = _HEADER.search(text) or _WIDTH.search(text)
    if found is None:
        return ""
    parts = found.groupdict()
    names = parts["found"].strip() if "wanted" in parts else f"{parts['found']} columns"
    wanted = f", described are {parts['wanted'].strip()}" if "wanted" in parts else ""
    return (
        f"the header of {redact_text(parts['file'].strip())} has "
        f"{names}{wanted.removesuffix(f', {_CORRUPT}')}. Give the source all columns of the files, with the "
        "same names in the same order; or correct the file under the same name. What was written is "
        "complete, and the next run continues with this file."
    )


@dataclass(frozen=True)
class FileInput:
    """The files of a folder.

    Attributes:
        call: the arguments of the `stream(...)`.
        description: the source's description.
        value_format: how its lines are parsed; None for Parquet, which needs no parsing.
    """

    call: StreamCall
    description: Description
    value_format: ValueFormat | None

    @classmethod
    def of(cls, call: StreamCall, description: Description, value_format: ValueFormat | None) -> FileInput:
        """The input for a description; `value_format` is for JSON."""
        if description.using == CSV:
            value_format = CsvLines(description.columns)
        return cls(call, description, value_format)

    @property
    def identity(self) -> dict[str, str]:
        """See `Input`."""
        return {"source": self.description.label, self.description.using: shown_location(self.description)}

    def unmarked(self) -> FileInput:
        """See `MarkingInput`: without cleanSource."""
        kept = {key: value for key, value in self.description.options.items() if key.lower() != "cleansource"}
        return replace(self, description=replace(self.description, options=kept))

    def read(self, session: SparkSession) -> DataFrame:
        """See `Input`."""
        self._check_folder(session)
        using = self.description.using
        if using == PARQUET:
            return self._parquet(session)
        assert self.value_format is not None
        if using == CSV:
            frame = self._csv(session)
        else:
            frame = self._load(session, "text").where(r"value rlike '\\S'")
            frame = frame.selectExpr("cast(value as binary) as value", *_RAW)
        return parsed(frame, self.value_format)

    def check_offset(self, session: SparkSession, offset: str) -> None:
        """See `Input`: files that have been read are no longer needed."""

    def check_batch(self, session: SparkSession, checkpoint: str, index: int, batch: int) -> None:
        """Refuse to write a batch if one of its files is missing: Spark would treat it as an empty file.

        Args:
            session: the batch's session.
            checkpoint: the location of the checkpoint.
            index: the index of this source in the checkpoint.
            batch: the number of the batch.

        Raises:
            DbtRuntimeError: the missing files, and the remedy.
        """
        ignore = {name.lower(): value for name, value in self.description.options.items()}
        if ignore.get("ignoremissingfiles", "").lower() == "true":
            return
        paths = checkpoints.files_of_batch(HadoopFolder(session, checkpoint), index, batch)
        # An object store takes a while for each.
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            gone = [
                path
                for path, there in zip(paths, pool.map(_is_there(session), paths), strict=True)
                if not there
            ]
        if gone:
            raise DbtRuntimeError(
                f"source '{self.description.label}': {len(gone)} file(s) were removed after the stream had "
                f"listed them and before they were read, the first is {redact_text(gone[0])}. Restore them, "
                "and run again; or set ignoreMissingFiles: true in the options of the source to continue "
                "without them. Remove files of a folder that is read as a stream only after they have been "
                "read."
            )

    def rows_sql(self, raw: str) -> str:
        """See `Input`."""
        if self.value_format is None:
            return f"select * from {raw}"
        return self.value_format.rows_sql(raw, [quoted(name) for name in FILE_METADATA])

    def faults_sql(self, raw: str) -> str | None:
        """See `Input`."""
        return self.value_format.faults_sql(raw) if self.value_format else None

    def new_columns_sql(self, raw: str) -> str | None:
        """See `Input`."""
        return self.value_format.new_columns_sql(raw) if self.value_format else None

    def with_columns(self, columns: Mapping[str, str]) -> Input:
        """See `Input`."""
        if self.value_format is None:
            return self
        return replace(self, value_format=self.value_format.with_columns(columns))

    def lag(self, session: SparkSession, progress: Mapping[str, Any]) -> int | None:
        """See `Input`: always None, since the number of rows in the files is unknown."""
        return None

    def _csv(self, session: SparkSession) -> DataFrame:
        """Reads all values as text: Spark would round some values, and accept approximate ones."""
        names = [quoted(column.name) for column in self.description.columns]
        schema = ", ".join(f"{name} string" for name in (*names, _CORRUPT))
        # The described columns could have the names of raw columns.
        values = (f"concat('s', {name}) as {messages.value_column(i)}" for i, name in enumerate(names))
        return self._load(session, "csv", schema, _CSV_OPTIONS).selectExpr(*_RAW, _CORRUPT, *values)

    def _parquet(self, session: SparkSession) -> DataFrame:
        columns = self.description.columns
        schema = ", ".join(f"{quoted(column.name)} {column.data_type}" for column in columns)
        if not schema:
            schema = self._inferred(session)
        return self._load(session, "parquet", schema).selectExpr("*", "_metadata.file_path as _file")

    def _inferred(self, session: SparkSession) -> str:
        from dbt.adapters.paimon.sql.data_types import type_text

        try:
            reader = session.read.format("parquet").options(**self.description.options)
            fields = reader.load(self.description.location).schema.fields
        except Exception as exc:
            text = error_text(exc)
            if "UNABLE_TO_INFER_SCHEMA" not in text:
                raise
            raise DbtRuntimeError(
                f"source '{self.description.label}': {shown_location(self.description)} has no file yet to "
                "infer the columns from. List them in the source (name and data_type), or put a file there."
            ) from exc
        return ", ".join(f"{quoted(field.name)} {type_text(field.dataType)}" for field in fields)

    def _load(
        self, session: SparkSession, kind: str, schema: str = "", options: Mapping[str, str] | None = None
    ) -> DataFrame:
        given = dict(self.description.options)
        names = {name.lower() for name in given}
        defaults = {**_DEFAULTS, **(_CSV_DEFAULTS if kind == "csv" else {})}
        defaults = {name: value for name, value in defaults.items() if name.lower() not in names}
        reader = session.readStream.format(kind).options(**{**defaults, **given, **(options or {})})
        if schema:
            reader = reader.schema(schema)
        return reader.load(self.description.location)

    def _check_folder(self, session: SparkSession) -> None:
        """A folder must exist; a pattern (`*`) may match files that come later."""
        location = self.description.location
        if any(sign in location for sign in "*?[{"):
            return
        jvm: Any = session._jvm
        path = jvm.org.apache.hadoop.fs.Path(location)
        files = path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        where = f"source '{self.description.label}': {shown_location(self.description)}"
        if not files.exists(path):
            raise DbtRuntimeError(
                f"{where} does not exist. Create the folder, or correct external.location of the source (a "
                "relative one is relative to the project's folder)."
            )
        if not files.getFileStatus(path).isDirectory():
            raise DbtRuntimeError(f"{where} is a file. Name the folder that receives the files.")


def _is_there(session: SparkSession) -> Callable[[str], bool]:
    jvm: Any = session._jvm
    conf = session._jsparkSession.sessionState().newHadoopConf()

    def look(name: str) -> bool:
        # The names in the log are URIs.
        path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(name))
        return bool(path.getFileSystem(conf).exists(path))

    return look


@dataclass(frozen=True)
class CsvLines:
    """The CSV format: values are text, converted to the types of the columns by the rules for JSON.

    Attributes:
        columns: the columns of the files, in order.
    """

    columns: tuple[SourceColumn, ...]

    def stages(self) -> Sequence[Sequence[str]]:
        """See `ValueFormat`."""
        marked = [messages.value_column(index) for index in range(len(self.columns))]
        typed = (
            f"{messages.value_sql(marked[index], column, untyped=True)} as {messages.typed_column(index)}"
            for index, column in enumerate(self.columns)
        )
        texts = ", ".join(f"substr({name}, 2)" for name in marked)
        unreadable = " or ".join(f"coalesce(contains({name}, '\\uFFFD'), false)" for name in marked)
        problem = (
            f"case when {_CORRUPT} is not null then 'it has more or fewer values than the header, or an open quote' "
            f"when {unreadable} then 'it is not in the encoding of the file (option encoding; UTF-8 if not set)' "
            f"else {messages.problems_sql(self.columns)} end"
        )
        return (
            tuple(typed),
            (
                messages.problem_as(problem),
                messages.row_sql(self.columns),
                f"cast(coalesce({_CORRUPT}, to_csv(struct({texts}))) as binary) as value",
            ),
        )

    def rows_sql(self, raw: str, extra: Sequence[str]) -> str:
        """See `ValueFormat`."""
        return messages.rows_sql(raw, (column.name for column in self.columns), extra)

    def faults_sql(self, raw: str) -> str:
        """See `ValueFormat`."""
        return messages.faults_sql(raw)

    def new_columns_sql(self, raw: str) -> str | None:
        """See `ValueFormat`: None, since a file with other columns is refused."""
        return None

    def with_columns(self, columns: Mapping[str, str]) -> CsvLines:
        """See `ValueFormat`."""
        return self

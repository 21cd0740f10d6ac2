"""Folders of files as inputs of a stream: JSON (one object per line), CSV, Parquet.

A file is read once and recognized by its name: lines that are appended later are not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors.messages import error_text
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.streaming import checkpoints
from dbt.adapters.paimon.streaming.descriptions import CSV, PARQUET, with_defaults
from dbt.adapters.paimon.streaming.formats import messages
from dbt.adapters.paimon.streaming.formats.messages import PROBLEM, SCRATCH, ValueFormat, parsed
from dbt.adapters.paimon.streaming.inputs import DescribedInput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = AdapterLogger("Paimon")

_CORRUPT: Final = f"{SCRATCH}corrupt"
# Spark's default is a week, relative to the newest file: an older file that arrives late would be skipped silently.
_DEFAULTS: Final = {"maxFileAge": "36500d"}
# Options for rebuilding a CSV line from its values, for a dead letter.
_CSV_WRITTEN: Final = ("sep", "delimiter", "quote", "escape", "nullValue", "emptyValue")
_CSV_OPTIONS: Final = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT, "enforceSchema": "false"}
# Spark returns a URI, in which `+` is a plus sign; url_decode would turn it into a space.
_PATH: Final = "url_decode(replace(_metadata.file_path, '+', '%2B'))"
_RAW: Final = (
    "cast(null as binary) as key",
    f"{_PATH} as place",
    "_metadata.file_modification_time as received_at",
    f"{_PATH} as _file",
)


def csv_options(given: Mapping[str, str]) -> dict[str, str]:
    """Spark's options for CSV files, with defaults of RFC 4180: a quote within a quoted value is doubled."""
    quote = _by_lower_name(given).get("quote", '"')
    return with_defaults(given, {"header": "true", **({"escape": quote} if quote else {})})


def _by_lower_name(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in options.items()}


@dataclass(frozen=True)
class FileInput(DescribedInput):
    """The files of a folder; `value_format` is None for Parquet, which needs no parsing."""

    @property
    def identity(self) -> dict[str, str]:
        return {"source": self.description.label, self.description.using: self._shown_location}

    def without_effects(self) -> FileInput:
        kept = {key: value for key, value in self.description.options.items() if key.lower() != "cleansource"}
        return replace(self, description=replace(self.description, options=kept))

    def read(self, session: SparkSession) -> DataFrame:
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

    def check_batch(self, session: SparkSession, checkpoint: str, index: int, batch: int) -> None:
        """Refuse to write a batch if one of its files is missing."""
        if self._is_on("ignoremissingfiles"):
            return
        if missing := checkpoints.missing_files(session, checkpoint, index, batch):
            raise DbtRuntimeError(
                f"source '{self.description.label}': {len(missing)} file(s) were removed after the stream had listed "
                f"them but before it read them. The first is {redact_text(missing[0])}. Restore the files, and run "
                "again; or set ignoreMissingFiles: true in the options of the source to continue without them. Remove "
                "files from a streamed folder only after they have been read."
            )

    def check_faults(self, session: SparkSession, raw: str) -> None:
        """Refuse a line that ends within a quoted value: Spark would parse the rest of the value as a row."""
        pattern = self.value_format.open_quote() if isinstance(self.value_format, CsvLines) else ""
        if not pattern:
            return
        # These are few files, because rows that cannot be parsed are rare.
        found = session.sql(f"select distinct _file from {raw} where {PROBLEM} is not null").collect()
        given = _by_lower_name(self.description.options)
        reader = session.read.options(**{name: given[name] for name in ("encoding", "linesep") if name in given})
        # The names must not be read as patterns.
        lines = reader.option("__globPaths__", "false").text([row[0] for row in found])
        first = lines.where(f"value rlike {string_literal(pattern)}").selectExpr("value", f"{_PATH} as file").first()
        if first is not None:
            raise DbtRuntimeError(
                f"source '{self.description.label}': a line of {redact_text(first.file)} ends within a quoted value: "
                f"{first.value[-200:]}. Set multiLine: true in the options of the source if values have line breaks; "
                "or correct the file without renaming it. The batches written so far are complete, and the next run "
                "continues with this file."
            )

    @property
    def _shown_location(self) -> str:
        return redact_text(self.description.location)

    def _is_on(self, option: str) -> bool:
        return _by_lower_name(self.description.options).get(option, "").lower() == "true"

    def _csv(self, session: SparkSession) -> DataFrame:
        """Read all values as strings. If Spark parsed them, it would round some values and accept inexact ones."""
        names = [quoted(column.name) for column in self.description.columns]
        schema = ", ".join(f"{name} string" for name in (*names, _CORRUPT))
        # Renamed, because the described columns could have the same names as the raw columns.
        values = (f"concat('s', {name}) as {messages.value_column(i)}" for i, name in enumerate(names))
        return self._load(session, CSV, schema).selectExpr(*_RAW, _CORRUPT, *values)

    def _parquet(self, session: SparkSession) -> DataFrame:
        described = ", ".join(f"{quoted(column.name)} {column.data_type}" for column in self.description.columns)
        return self._load(session, PARQUET, described or self._inferred(session)).selectExpr("*", f"{_PATH} as _file")

    def _inferred(self, session: SparkSession) -> str:
        from dbt.adapters.paimon.sql.data_types import type_text

        # By default, Spark takes the columns of one file, and so loses those that only other files have.
        options = with_defaults(self.description.options, {"mergeSchema": "true"})
        try:
            fields = session.read.format("parquet").options(**options).load(self.description.location).schema.fields
        except Exception as exc:
            text = error_text(exc)
            if "CANNOT_MERGE_SCHEMAS" in text:
                raise DbtRuntimeError(
                    f"source '{self.description.label}': a column has different types in the files of "
                    f"{self._shown_location}. List the columns in the source (name and data_type)."
                ) from exc
            if "UNABLE_TO_INFER_SCHEMA" not in text:
                raise
            raise DbtRuntimeError(
                f"source '{self.description.label}': {self._shown_location} has no file yet to "
                "infer the columns from. List them in the source (name and data_type), or put a file there."
            ) from exc
        return ", ".join(f"{quoted(field.name)} {type_text(field.dataType)}" for field in fields)

    def _load(self, session: SparkSession, kind: str, schema: str = "") -> DataFrame:
        given = with_defaults(self.description.options, _DEFAULTS)
        if kind == CSV:
            given = {**csv_options(given), **_CSV_OPTIONS}
        reader = session.readStream.format(kind).options(**given)
        if schema:
            reader = reader.schema(schema)
        return reader.load(self.description.location)

    def _check_folder(self, session: SparkSession) -> None:
        """Refuse a folder that does not exist; a pattern (`*`) may match files that arrive later."""
        location = self.description.location
        if any(sign in location for sign in "*?[{"):
            return
        jvm: Any = session._jvm
        path = jvm.org.apache.hadoop.fs.Path(location)
        files = path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        where = f"source '{self.description.label}': {self._shown_location}"
        if not files.exists(path):
            raise DbtRuntimeError(
                f"{where} does not exist. Create the folder, or correct external.location of the source (a "
                "relative path starts at the project's folder)."
            )
        if not files.getFileStatus(path).isDirectory():
            raise DbtRuntimeError(f"{where} is a file. Set external.location to the folder that receives the files.")
        self._check_subfolders(files, path, jvm.org.apache.hadoop.fs.Path, where)

    def _check_subfolders(self, files: Any, path: Any, path_class: Any, where: str) -> None:
        """Warn about files in sub-folders, which Spark does not read; refuse them if later runs would fail."""
        # Spark reads partition folders (`dt=…`) if there is nothing else. With files beside them, later runs fail.
        if self._is_on("recursivefilelookup"):
            return
        below, partitions = (
            len(files.globStatus(path_class(path, pattern))) for pattern in ("[^._]*/[^._]*", "[^._]*=*/[^._]*")
        )
        remedy = (
            "Set recursiveFileLookup: true in the options of the source to read them, too; or set external.location "
            "to a pattern that matches the files to read, such as landing/*.json."
        )
        if partitions and files.listFiles(path, False).hasNext():
            raise DbtRuntimeError(
                f"{where} has partition folders (name=value) beside files, which Spark cannot read together. {remedy}"
            )
        if below > partitions:
            logger.warning(f"{where}: files in its sub-folders are not read. {remedy}")


@dataclass(frozen=True)
class CsvLines(ValueFormat):
    """The CSV format: values are strings, converted by the rules for JSON; `options`: see `csv_options`."""

    options: Mapping[str, str] = field(default_factory=dict)

    def stages(self) -> Sequence[Sequence[str]]:
        marked = [messages.value_column(index) for index in range(len(self.columns))]
        typed = (
            f"{messages.value_sql(marked[index], column, untyped=True)} as {messages.typed_column(index)}"
            for index, column in enumerate(self.columns)
        )
        texts = ", ".join(f"substr({name}, 2)" for name in marked)
        written = ", ".join(f"'{name}', {string_literal(value)}" for name, value in self._writer_options.items())
        unreadable = " or ".join(f"coalesce(contains({name}, '\\uFFFD'), false)" for name in marked)
        problem = (
            f"case when {_CORRUPT} is not null then 'it has more or fewer values than the header, or an open quote' "
            f"{self._other_escape(marked)} "
            f"when {unreadable} then 'it is not in the encoding of the file (option encoding; UTF-8 if not set)' "
            f"else {messages.problems_sql(self.columns)} end"
        )
        return (
            tuple(typed),
            (
                f"{problem} as {PROBLEM}",
                messages.row_sql(self.columns),
                f"cast(coalesce({_CORRUPT}, to_csv(struct({texts}), map({written}))) as binary) as value",
            ),
        )

    @property
    def _writer_options(self) -> dict[str, str]:
        lower = _by_lower_name(self.options)
        return {name: lower[name.lower()] for name in _CSV_WRITTEN if name.lower() in lower}

    def open_quote(self) -> str:
        """The pattern of a line that ends inside quotes; empty if values may have line breaks, or quotes are off."""
        lower = _by_lower_name(self.options)
        quote, sep = lower.get("quote", '"'), lower.get("sep", lower.get("delimiter", ","))
        if lower.get("multiline", "").lower() == "true" or not quote:
            return ""
        # Spark takes the two characters `\t` for a tab.
        sep = "\t" if sep == r"\t" else sep
        quote, sep, escape = (re.escape(each) for each in (quote, sep, lower["escape"]))
        within = f"(?:[^{quote}{escape}]|{escape}.)*+" if escape != quote else f"(?:[^{quote}]|{quote}{quote})*+"
        value = f"(?:{quote}{within}{quote}|(?!{quote})(?:(?!{sep}).)*+)?"
        return f"^(?:{value}{sep}){{{len(self.columns) - 1}}}{quote}{within}$"

    def _other_escape(self, marked: Sequence[str]) -> str:
        """A CASE branch for quotes not escaped as the option `escape` says: Spark keeps values with them unchanged."""
        quote, escape = self._writer_options.get("quote", '"'), self._writer_options.get("escape", "")
        if not quote or not escape:
            return ""
        other = f"\\{quote}" if escape == quote else quote * 2
        begin, within = string_literal(f"s{quote}"), string_literal(other)
        found = " or ".join(f"(startswith({name}, {begin}) and contains({name}, {within}))" for name in marked)
        reason = f"it has {other} within quotes, but the option escape of the source is {escape}"
        return f"when coalesce({found}, false) then {string_literal(reason)}"

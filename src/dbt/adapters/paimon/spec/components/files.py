"""Data files: format, compression, deletion vectors, buffers, and the options without which filters miss rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.capabilities.names import FILE_FORMATS
from dbt.adapters.paimon.capabilities.version_numbers import OLDEST_PAIMON, reaches
from dbt.adapters.paimon.options.table_options import canonical
from dbt.adapters.paimon.options.values import LOSSY_FORMATS, codec_fault, pairs
from dbt.adapters.paimon.spec.component import Component, Found, PropertyChange, Types, config_key
from dbt.adapters.paimon.spec.foreign_config import is_table_format
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.data_types import field_names


@dataclass
class Keys:
    """The config keys."""

    file_format: str | None = config_key(
        "The format of the data files",
        ", ".join(
            f"`{name}`" if reaches(OLDEST_PAIMON, since) else f"`{name}` (from {since})"
            for name, since in FILE_FORMATS.items()
            if name not in LOSSY_FORMATS
        ),
        option="file.format",
        page="maintenance.md#formats-and-codecs-by-level",
    )
    deletion_vectors: bool | str | None = config_key(
        "Whether deleted rows are marked in a bitmap, which readers apply instead of merging files",
        option="deletion-vectors.enabled",
        page="update.md#what-to-use-in-a-model",
    )


# ParquetReaderFactory.setReadOptions: with both filters off, Paimon reads whole files, and Spark filters the rows.
UNFILTERED: Final[Mapping[str, str]] = {
    "parquet.filter.stats.enabled": "false",
    "parquet.filter.dictionary.enabled": "false",
}
# SortBufferWriteBuffer needs three pages, and each must be large enough for its own metadata.
_LEAST_PAGE: Final = 2**10
_LEAST_PAGES: Final = 3
# The types whose max() and min() Paimon takes from statistics.
_ANSWERED_BY_STATISTICS: Final = frozenset("boolean tinyint smallint int bigint float double date".split())
_AVRO_NAME: Final = re.compile(r"[^\W\d]\w*")
_DECIMAL_FIRST: Final = re.compile(r"struct<(?:`(?:[^`]|``)*`|\w+):decimal\(")


def _deletion_vector_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateForDeletionVectors
    name = "deletion-vectors.enabled"
    if not spec.is_true(name):
        return
    if spec.merge_engine == "first-row" and not spec.is_true("pk-clustering-override"):
        yield name, "first-row never deletes old rows, so it does not use them. Remove deletion_vectors"
    producer = spec.changelog_producer
    if producer not in ("none", "input", "lookup"):
        yield name, f"does not work with changelog_producer='{producer}'. Use 'lookup', 'input' or 'none'"


def _codec_rules(spec: TableSpec, versions: Versions) -> Found:
    # RowDataParquetBuilder and OrcFile refuse a codec only when rows are written.
    per_level = dict(pairs(spec.options.get("file.format.per.level", "")))

    def fault_of(level_format: str, codec: str) -> str | None:
        if level_format == "avro" and versions.supports(Capability.AVRO_CODEC_IS_ITS_OWN):
            return None
        return codec_fault(level_format, codec)

    codec = spec.options.get("file.compression")
    if codec is None and "json" in spec.file_formats:
        # HadoopCompressionUtils [ran, 1.4.2]
        yield (
            "file.format" if spec.file_format == "json" else "file.format.per.level",
            "no row could be written: Hadoop compresses json files, and its zstd, the default, needs a native library, "
            "which PySpark lacks. Put 'file.compression': 'gzip' into tblproperties, or use parquet",
        )
    formats = {
        "file.compression": spec.file_format,
        "changelog-file.compression": spec.options.get("changelog-file.format", per_level.get("0", spec.file_format)),
    }
    for name, file_format in formats.items():
        if name in spec.options and (fault := fault_of(file_format.lower(), spec.options[name])):
            yield name, fault
    for level, codec in dict(pairs(spec.options.get("file.compression.per.level", ""))).items():
        if fault := fault_of(per_level.get(level, spec.file_format).lower(), codec):
            yield "file.compression.per.level", f"level {level}: {fault}"


def _buffer_rules(spec: TableSpec, versions: Versions) -> Found:
    # Paimon refuses these sizes only when rows are written [ran, 0.9.0].
    page, buffer = (
        canonical(name, spec.options.get(name), versions.paimon) for name in ("page-size", "write-buffer-size")
    )
    if not isinstance(page, int) or not isinstance(buffer, int):
        return
    if page < _LEAST_PAGE or page & (page - 1):
        yield "page-size", "no row could be written. Use a power of two from 1 kb, as in '64 kb'"
    elif spec.primary_key and buffer < _LEAST_PAGES * page:
        where = "write-buffer-size" if "write-buffer-size" in spec.options else "page-size"
        yield (
            where,
            f"no row could be written: a write buffer ({buffer} bytes) holds {_LEAST_PAGES} pages ({page} bytes each) "
            "or more. Use a greater 'write-buffer-size', or a smaller 'page-size'",
        )


def _lookup_cache_rules(spec: TableSpec, versions: Versions) -> Found:
    # Paimon refuses 0 only when rows are written [ran, 0.9.0].
    retention = "lookup.cache-file-retention"
    if spec.options.get(retention) and canonical(retention, spec.options[retention], versions.paimon) == 0:
        yield retention, "a lookup would lose its files while it reads them. Use a second or more"


def _file_format_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    file_format = spec.file_format
    no_decimal_first = versions.explain(Capability.DECIMAL_FIRST_IN_STRUCT)
    for name, data_type in types.items():
        if file_format == "parquet" and no_decimal_first and _DECIMAL_FIRST.search(data_type):
            yield "file.format", f"'{name}' is {data_type}. {no_decimal_first}"
        for field in (name, *field_names(data_type)):
            if fault := _name_fault(file_format, field):
                where = f"'{name}'" if field == name else f"the field '{field}' of '{name}'"
                yield "file.format", f"{where} has {fault}. Rename it, or use 'parquet'"


def _name_fault(file_format: str, name: str) -> str:
    if file_format == "orc" and "`" in name:
        # Paimon writes the values, but reads them as NULL [ran, 0.9.0].
        return "a backtick, which ORC cannot read"
    if file_format == "avro" and not _AVRO_NAME.fullmatch(name):
        # org.apache.avro.Schema.validateName
        return "characters other than letters, digits and _, which Avro does not allow"
    return ""


def _statistics_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # PushDownUtils.minmaxAvailable
    missing = "" if spec.primary_key else versions.explain(Capability.MAX_WITHOUT_STATISTICS)
    answered = {name for name, data_type in types.items() if data_type in _ANSWERED_BY_STATISTICS}
    for name, value in spec.options.items():
        column = name.removeprefix("fields.").removesuffix(".stats-mode")
        has = answered if name == "metadata.stats-mode" else {column} & answered
        if missing and name.endswith("stats-mode") and value.lower() == "counts" and has:
            yield (
                name,
                f"without a primary key, max() and min() of {', '.join(sorted(has))} skip files with these statistics. "
                "Use none, truncate(16) or full",
            )


def filterable(spec: TableSpec, types: Types, versions: Versions, *, older_types: bool = False) -> TableSpec:
    """The table with options that make WHERE find all rows.

    - Before Paimon 1.0: no Parquet filters if a column is a tinyint or smallint, or if `older_types` (files are older
      than a column's type).
    - ORC: no statistics of floating-point numbers. If the first value is NaN, so are the minimum and maximum, and `<`
      and `<=` find no rows [ran, 0.9.0 and 1.4.2].
    """
    has, options = {*types.values()}, dict(spec.options)
    if "orc" in spec.file_formats and has & {"float", "double"}:
        options.setdefault("metadata.stats-mode", "none")
    small = has & {"tinyint", "smallint"} and not versions.supports(Capability.FILTERS_ON_SMALL_INTEGERS)
    older = older_types and not versions.supports(Capability.FILTERS_AFTER_TYPE_CHANGE)
    if "parquet" in spec.file_formats and (small or older):
        options |= UNFILTERED
    return replace(spec, options=options)


def _uses_zstd(spec: TableSpec) -> bool:
    codec = spec.options.get("file.compression", "zstd")
    return "zstd" in f"{codec} {spec.options.get('file.compression.per.level')}".lower()


def _shared_zstd_level(spec: TableSpec, types: Types, versions: Versions) -> Found:
    name = "file.compression.zstd-level"
    missing = versions.explain(Capability.PARQUET_ZSTD_LEVEL_IS_ITS_OWN)
    if name in spec.options and spec.file_format == "parquet" and _uses_zstd(spec) and missing:
        yield name, f"is the level of whichever table this process writes first: {missing}"


def _returns_rows_twice(change: PropertyChange, options: Mapping[str, str], versions: Versions) -> bool:
    # After the change, files without vectors return rows twice. 0.9 allows it anyway, and 1.4 only with an option.
    allowed = versions.supports(Capability.GUARDED_OPTION_CHANGES)
    return not (allowed and options.get("deletion-vectors.modifiable", "").lower() == "true")


COMPONENT: Final = Component(
    keys=Keys,
    # The format may be empty, as in "{{ 'delta' if target.type == 'databricks' else '' }}".
    values={"file_format": lambda value, key, problems: None if value == "" or is_table_format(value) else value},
    rules=(_deletion_vector_rules, _codec_rules, _buffer_rules, _lookup_cache_rules),
    column_rules=(
        _file_format_rules,
        _statistics_rules,
    ),
    advice=(_shared_zstd_level,),
    guards={
        "deletion-vectors.enabled": _returns_rows_twice,
        # ManifestFile, ManifestList: Paimon reads stored manifests in the current format [ran, 0.9.0, 1.4.2, 2.0.0].
        "manifest.format": lambda change, options, versions: True,
    },
)

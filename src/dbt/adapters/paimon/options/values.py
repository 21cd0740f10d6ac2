"""Finds option values that have the right type but do not work; Paimon refuses them late, or never.

Each entry names the Paimon class, with [ran, 0.9.0] if the value was tested.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from packaging.version import Version

from dbt.adapters.paimon.capabilities.names import FILE_FORMATS
from dbt.adapters.paimon.capabilities.version_numbers import reaches

# Compression codecs of data files. Sources: CompressionCodecName, CompressionKind, CodecFactory. Paimon's jars lack the
# classes for lzo and brotli in Parquet, and its ORC writer does not support brotli [ran, 0.9.0 and 2.0.0].
CODECS: Final[Mapping[str, tuple[str, ...]]] = {
    "parquet": ("uncompressed", "snappy", "gzip", "lz4", "zstd", "lz4_raw"),
    "orc": ("none", "zlib", "snappy", "lzo", "lz4", "zstd"),
    "avro": ("null", "deflate", "snappy", "bzip2", "xz", "zstd", "zstandard"),
}

# Formats that lose values. If a value of a keyed table is lost, the table cannot be read [ran, 1.4.2]. Sources:
# CsvFormatWriter, CsvParser, TextFormatWriter, StandardLineReader.
LOSSY_FORMATS: Final[Mapping[str, str]] = {
    "csv": "csv files lose values: '' is read as NULL, a backslash is dropped, and a line break splits a row",
    "text": "text files lose values: NULL is read as '', and a line break splits a row",
}

# Allowed values of options that Paimon declares as strings.
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    # ManifestFile and ManifestList write any FileFormat, but the writers of text formats collect no statistics.
    "manifest.format": ("avro", "orc", "parquet"),
    # BlockCompressionFactory [ran, 0.9.0]
    "spill-compression": ("none", "zstd", "lz4", "lzo"),
    "lookup.cache-spill-compression": ("none", "zstd", "lz4", "lzo"),
    # These override file.compression: RowDataParquetBuilder, AvroFileFormat [ran, 0.9.0]
    "parquet.compression": CODECS["parquet"],
    # See Capability.PARQUET_FORMAT_V2.
    "parquet.writer.version": ("v1",),
    "orc.compress": CODECS["orc"],
    "avro.codec": CODECS["avro"],
}

# SimpleColStatsCollector.from, TruncateSimpleColStatsCollector [ran, 0.9.0]
_STATS_MODE: Final = re.compile(r"none|full|counts|truncate\((?P<length>[0-9]+)\)", re.IGNORECASE)
_LONGEST: Final = 2**31 - 1

# BloomFilterFileIndex, BloomFilter64 [ran, 0.9.0]
_BLOOM_FILTER_FPP: Final = re.compile(r"file-index\.bloom-filter\.[^.]+\.fpp")
_BLOOM_FILTER_ITEMS: Final = re.compile(r"file-index\.bloom-filter\.[^.]+\.items")
_FRACTION: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")

# Option -> (the smallest valid value, what happens with a smaller value)
_LEAST: Final[Mapping[str, tuple[int, str]]] = {
    # Levels [ran, 0.9.0]
    "num-levels": (2, "no row could be written"),
    "num-sorted-run.compaction-trigger": (1, "no row could be written"),
    # BinaryExternalMerger [ran, 0.9.0]
    "sort-spill-threshold": (2, "no row could be written"),
    # ScanParallelExecutor [ran, 0.9.0]
    "scan.manifest.parallelism": (1, "no row could be written"),
    # FormatReaderContext [ran, 0.9.0]
    "read.batch-size": (1, "a read would never end"),
    # SimpleHashBucketAssigner and BucketAssigner [ran, 0.9.0]
    "dynamic-bucket.initial-buckets": (1, "no row could be written"),
    "dynamic-bucket.assigner-parallelism": (1, "rows would be lost silently"),
    # GlobalIndexAssigner [ran, 0.9.0]
    "cross-partition-upsert.bootstrap-parallelism": (1, "no row could be written"),
    # ExpireSnapshotsImpl.expire
    "snapshot.expire.limit": (1, "no table snapshot would ever expire"),
    # ParquetProperties, CapacityByteArrayOutputStream [ran, 0.9.0]
    "parquet.page.size": (64, "no row could be written"),
    "parquet.dictionary.page.size": (64, "no row could be written"),
    # OrcConf.ROW_BATCH_SIZE [ran, 0.9.0]
    "orc.write.batch-size": (1, "no row could be written"),
    # SchemaValidation, 2.0
    "target-file-row-num": (1, "no table could be created"),
}


def value_fault(name: str, text: str, version: Version) -> str | None:
    """Why a value of the right type does not work for an option, as 'reason. Remedy'; None if it does."""
    if name in ("file.format", "changelog-file.format"):
        return _file_format_fault(text, version)
    if name in _WORDS:
        allowed = _WORDS[name]
        return None if text.lower() in allowed else f"not an allowed value. Allowed: {', '.join(allowed)}"
    if name.endswith("stats-mode"):
        return _stats_mode_fault(text)
    if name == "metadata.stats-mode.per.level":
        return next(filter(None, map(_stats_mode_fault, _values(text))), None)
    if name == "file.format.per.level":
        return next(filter(None, (_file_format_fault(kind, version) for kind in _values(text))), None)
    if name in _LEAST:
        least, consequence = _LEAST[name]
        return f"below {least}, {consequence}. Use {least} or more" if int(text) < least else None
    return _bloom_filter_fault(name, text)


def _bloom_filter_fault(name: str, text: str) -> str | None:
    is_share = _FRACTION.fullmatch(text) and 0 < float(text) < 1
    if _BLOOM_FILTER_FPP.fullmatch(name) and not is_share:
        return "not a false-positive rate, and no row could be written. Use a number between 0 and 1, as in 0.1"
    is_count = text.isascii() and text.isdigit() and int(text) <= _LONGEST
    if _BLOOM_FILTER_ITEMS.fullmatch(name) and not is_count:
        return "not a number of rows, and no row could be written. Use a whole number, as in 1000000"
    return None


def _file_format_fault(text: str, version: Version) -> str | None:
    since = FILE_FORMATS.get(text.lower())
    choices = "Use parquet (the default), orc or avro"
    if since and reaches(version, since):
        lossy = LOSSY_FORMATS.get(text.lower())
        return lossy and f"{lossy}. {choices}"
    if since:
        return f"the file format {text} needs Paimon >= {since}, this is {version}. {choices}"
    return f"'{text}' is not a file format. {choices}"


def codec_fault(file_format: str, codec: str) -> str | None:
    """Why a file format does not support a compression codec; None if it does."""
    allowed = CODECS.get(file_format)
    if allowed is None or codec.lower() in allowed:
        return None
    return f"{file_format} files have no compression '{codec}'. Use one of {', '.join(allowed)}"


def _stats_mode_fault(text: str) -> str | None:
    found = _STATS_MODE.fullmatch(text)
    if found and (found["length"] is None or 1 <= int(found["length"]) <= _LONGEST):
        return None
    return "not a statistics mode. Use none, counts, full or truncate(16), where the number is a length"


def _values(text: str) -> list[str]:
    return [value for _, value in pairs(text)]


def pairs(text: str) -> list[tuple[str, str]]:
    """Returns [('0', 'avro'), ('5', 'orc')] for '0:avro,5:orc'."""
    found = (item.split(":", 1) for item in text.split(",") if ":" in item)
    return [(key.strip(), value.strip()) for key, value in found]


def split_columns(text: str) -> tuple[str, ...]:
    """The columns in an option value such as 'a,b'."""
    return tuple(part.strip() for part in text.split(",") if part.strip())

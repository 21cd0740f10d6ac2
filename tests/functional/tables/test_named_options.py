"""Options and calls written as in Paimon's docs, checked by their effect on files, snapshots and rows."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from pyarrow import orc, parquet

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.capabilities.version_numbers import parse_version, reaches
from dbt.adapters.paimon.options.table_options import lookup
from functional.conftest import CONNECTOR, VERSIONS

GROWING = " select cast({{ var('run', 1) }} as int) as id, 'a' as name"
COMPRESSED = "{{ config(materialized='table', file_format='orc', tblproperties={'orc.compress': 'snappy'}) }}"
BY_TWO = """
{{ config(materialized='table', bucket=4, bucket_key=['country', 'city']) }}
select id, 'c' || id % 3 as country, 'd' || id % 5 as city from range(90)
"""
COMPACTED = """
{{ config(
    materialized='incremental', primary_key='id', bucket=1, tblproperties={'write-only': true},
    post_hook="call paimon.sys.compact('{{ this.schema }}.{{ this.name }}', '', '', '', '')"
) }}
"""
SHORT = """
{{ config(
    materialized='incremental', incremental_strategy='append',
    snapshot_retention={'num_retained_min': 1, 'time_retained': '1 ms'}
) }}
"""
# Three runs make three files.
BY_NUMBER = """
{{ config(
    materialized='incremental', incremental_strategy='append', tblproperties=OPTIONS,
    post_hook="call paimon.sys.compact('{{ this.schema }}.{{ this.name }}')"
) }}
"""
# Paimon 0.9 merges small files only when there are compaction.max.file-num of them.
NUMBERS = {name: 3 for name in ("compaction.min.file-num", "compaction.max.file-num") if lookup(name, CONNECTOR)}
OVERWRITTEN = """
{{ config(
    materialized='incremental', primary_key='id', bucket=1, tblproperties={'write-only': true},
    post_hook="{{ 'insert overwrite ' ~ this ~ ' select * from ' ~ this if var('run', 1) == 3 }}"
) }}
"""
HASHED = (
    "{{ config(materialized='table', bucket=7, bucket_key='id') }} select cast(id as int) as id from range(-50, 50)"
)
COUNTED = SHORT.replace("'time_retained': '1 ms'", "'num_retained_max': 2")
LEVELS = (
    "{{ config(materialized='table', file_format='FORMAT', tblproperties={'file.compression.zstd-level': LEVEL}) }} "
    "select /*+ coalesce(1) */ id, md5(string(id % 700)) || md5(string(id % 900)) as t from range(20000)"
).replace("FORMAT", "parquet" if VERSIONS.supports(Capability.PARQUET_ZSTD_LEVEL_IS_ITS_OWN) else "orc")
MOVED = """
{{ config(materialized='table', primary_key=['id', 'pt'], partition_by='pt', bucket=1) }}
select 1 as id, 1 as pt, 'a' as v
"""
MODELS = {
    "compressed.sql": COMPRESSED + GROWING,
    "by_two.sql": BY_TWO,
    "compacted.sql": COMPACTED + GROWING,
    "short.sql": SHORT + GROWING,
    "counted.sql": COUNTED + GROWING,
    "moved.sql": MOVED,
    "by_default.sql": BY_NUMBER.replace("OPTIONS", "{}") + GROWING,
    "by_number.sql": BY_NUMBER.replace("OPTIONS", str(NUMBERS)) + GROWING,
    "overwritten.sql": OVERWRITTEN + GROWING,
    "hashed.sql": HASHED,
    **{f"level_{level}.sql": LEVELS.replace("LEVEL", str(level)) for level in (1, 19)},
    "plain.sql": "{{ config(materialized='table') }}" + GROWING,
}


def bucket_of(fields: list[int | str], buckets: int) -> int:
    """The bucket of a key: abs(hash % buckets), where hash is MurmurHash3 (seed 42) of Paimon's BinaryRow.

    A row is 8 bytes of NULL bits (up to 56 columns), and 8 bytes per value: an int, or a string of up to 7 bytes with
    its length.
    """
    row = bytes(8)
    for field in fields:
        text = field.encode() if isinstance(field, str) else b""
        row += text.ljust(7, b"\0") + bytes([0x80 | len(text)]) if text else struct.pack("<ii", field, 0)
    found = 42
    for (word,) in struct.iter_unpack("<I", row):
        mixed = _rotated(word * 0xCC9E2D51, 15) * 0x1B873593 & 0xFFFFFFFF
        found = (_rotated(found ^ mixed, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    found ^= len(row)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        found = (found ^ found >> shift) * factor & 0xFFFFFFFF
    signed = found - (found >> 31 << 32)
    # Java's remainder has the sign of the dividend.
    return abs(signed) % buckets


def _rotated(word: int, by: int) -> int:
    word &= 0xFFFFFFFF
    return (word << by | word >> 32 - by) & 0xFFFFFFFF


class TestNamedOptions:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def built(self, project):
        for run in (1, 2, 3):
            assert len(run_dbt(["run", "--vars", f"run: {run}"])) == len(MODELS)

    def test_orc_compress(self, built, rows):
        ((path,),) = rows("select distinct __paimon_file_path from {schema}.compressed")
        assert orc.ORCFile(Path(path.removeprefix("file:"))).compression == "SNAPPY"

    def test_a_bucket_key_of_several_columns(self, built, rows):
        places = rows(
            "select distinct country, city, regexp_extract(__paimon_file_path, 'bucket-(.)', 1) from {schema}.by_two"
        )
        # Fifteen pairs, each in the bucket of its hash.
        assert len(places) == 15
        assert places == [(*key, str(bucket_of(key, 4))) for *key, _ in places]

    def test_the_bucket_of_a_hash(self, built, rows):
        """The buckets are those of Paimon's KeyAndBucketExtractor.bucket and BinaryRow.hashCode."""
        places = rows("select id, regexp_extract(__paimon_file_path, 'bucket-(.)', 1) from {schema}.hashed order by id")
        assert places == [(number, str(bucket_of([number], 7))) for number in range(-50, 50)]
        assert len({bucket for _, bucket in places}) == 7

    def test_zstd_is_the_default(self, built, warehouse, project):
        """According to the footers of the Parquet files."""
        files = (warehouse / f"{project.test_schema}.db" / "plain").glob("bucket-0/*.parquet")
        assert {parquet.read_metadata(path).row_group(0).column(0).compression for path in files} == {"ZSTD"}

    def test_levels_of_zstd(self, built, rows):
        """Another level gives another file size (on Paimon 0.9 only in ORC: all Parquet files get the first level)."""
        size = "select sum(file_size_in_bytes) from {schema}.`level_%s$files`"
        ((low,),), ((high,),) = rows(size % 1), rows(size % 19)
        assert high != low

    def test_numbers_of_small_files(self, built, rows):
        """With compaction.min.file-num=3, three files are merged; by default they are not."""
        count = "select count(*) from {schema}.`%s$files`"
        assert rows(count % "by_default") == [(3,)]
        assert rows(count % "by_number") == [(1,)]
        assert rows("select id from {schema}.by_number order by id") == [(1,), (2,), (3,)]

    def test_insert_overwrite_of_itself(self, built, rows):
        """Overwriting a table with its own rows merges the sorted runs into one file, in level 0 before Paimon 1.4."""
        assert rows("select id from {schema}.overwritten order by id") == [(1,), (2,), (3,)]
        lifted = reaches(VERSIONS.paimon, "1.4")
        assert rows("select level, record_count from {schema}.`overwritten$files`") == [(5 if lifted else 0, 3)]
        assert [kind for (kind,) in rows("select commit_kind from {schema}.`overwritten$snapshots`")][3:4] == [
            "OVERWRITE"
        ]

    def test_sys_compact_with_empty_arguments(self, built, rows):
        assert rows("select count(*) from {schema}.`compacted$files`") == [(1,)]
        assert rows("select id from {schema}.compacted order by id") == [(1,), (2,), (3,)]

    def test_snapshot_time_retained(self, built, rows):
        assert rows("select id from {schema}.short order by id") == [(1,), (2,), (3,)]
        # From Paimon 2.0, a table snapshot also stays until the next one is older than `time_retained`: the third one is,
        # if its commit takes more than a millisecond.
        kept = [[(3,)]] if parse_version("2.0.0") > CONNECTOR else [[(3,)], [(2,), (3,)]]
        assert rows("select snapshot_id from {schema}.`short$snapshots` order by 1") in kept

    def test_snapshot_num_retained(self, built, rows):
        assert rows("select id from {schema}.counted order by id") == [(1,), (2,), (3,)]
        assert rows("select snapshot_id from {schema}.`counted$snapshots` order by 1") == [(2,), (3,)]

    def test_an_update_of_the_partition_is_refused(self, built, rows):
        """The update would change the key. The row stays."""
        with pytest.raises(Exception, match=r"(?i)primary key|not supported"):
            rows("update {schema}.moved set pt = 2 where id = 1")
        assert rows("select id, pt, v from {schema}.moved") == [(1, 1, "a")]

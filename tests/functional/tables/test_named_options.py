"""Options and calls as Paimon's documents write them, by what they do to files, snapshots and rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from pyarrow import orc

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
MOVED = """
{{ config(materialized='table', primary_key=['id', 'pt'], partition_by='pt', bucket=1) }}
select 1 as id, 1 as pt, 'a' as v
"""
MODELS = {
    "compressed.sql": COMPRESSED + GROWING,
    "by_two.sql": BY_TWO,
    "compacted.sql": COMPACTED + GROWING,
    "short.sql": SHORT + GROWING,
    "moved.sql": MOVED,
}


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
        # Fifteen pairs, each in one bucket.
        assert len(places) == 15
        assert {bucket for *_, bucket in places} <= {"0", "1", "2", "3"} and len(
            {place[2] for place in places}
        ) > 1

    def test_sys_compact_with_empty_arguments(self, built, rows):
        assert rows("select count(*) from {schema}.`compacted$files`") == [(1,)]
        assert rows("select id from {schema}.compacted order by id") == [(1,), (2,), (3,)]

    def test_snapshot_time_retained(self, built, rows):
        assert rows("select id from {schema}.short order by id") == [(1,), (2,), (3,)]
        assert rows("select snapshot_id from {schema}.`short$snapshots`") == [(3,)]

    def test_an_update_of_the_partition_is_refused(self, built, rows):
        """It would be another key; the row stays."""
        with pytest.raises(Exception, match=r"(?i)primary key|not supported"):
            rows("update {schema}.moved set pt = 2 where id = 1")
        assert rows("select id, pt, v from {schema}.moved") == [(1, 1, "a")]

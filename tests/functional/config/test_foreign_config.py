"""A package for other adapters is built, with one warning for each config key that Paimon does not have."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

DELTA = (
    "{{ config(materialized='table', file_format='delta', location_root='/nowhere', buckets=4, clustered_by='id') }}"
)
MODELS = {
    "days.sql": "{{ config(materialized='incremental', incremental_strategy='insert_overwrite', "
    "partition_by={'field': 'day', 'data_type': 'date', 'granularity': 'day'}, cluster_by=['id']) }} "
    "select {{ var('run', 1) }} as run, id, date'2024-01-01' as day from range(2) as t(id)"
    "{% if not is_incremental() %} union all select 1, 9, date'2024-01-02'{% endif %}",
    "one.sql": f"{DELTA} select 1 as id",
    "two.sql": f"{DELTA} select 2 as id",
    "shown.sql": "{{ config(materialized='view', secure=true) }} select * from {{ ref('one') }}",
    "framed.py": "def model(dbt, session):\n    dbt.config(materialized='table', labels={'a': 'b'})\n"
    "    return session.sql('select 3 as id')\n",
}
SNAPSHOT = """{% snapshot kept %}
{{ config(unique_key='id', strategy='check', check_cols='all', file_format='delta', transient=true) }}
select * from {{ ref('two') }}
{% endsnapshot %}"""


class TestPackage:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"orders.csv": "id,amount\n1,2\n", "people.csv": "id,born\n1,2000-01-02\n"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        types = {"amount": "decimal(10,2)", "born": "date", "idd": "bigint"}
        return {
            "models": {"+file_format": "delta"},
            "seeds": {"+column_types": types, "+file_format": "delta"},
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": SNAPSHOT}

    def test_is_built(self, project, rows):
        warned = []

        def note(event):
            if event.info.level == "warn":
                warned.append(event.info.msg)

        results = run_dbt(["build"], callbacks=[note])
        assert {result.status for result in results} == {"success"}
        assert rows("select id from {schema}.one union all select id from {schema}.two") == [(1,), (2,)]
        assert len(rows("select * from {schema}.`days$partitions`")) == 2
        run_dbt(["run", "--select", "days", "--vars", "run: 2"])
        assert sorted(rows("select run, id from {schema}.days")) == [(1, 9), (2, 0), (2, 1)]
        assert rows("select typeof(amount) from {schema}.orders") == [("decimal(10,2)",)]
        assert rows("select typeof(born) from {schema}.people") == [("date",)]
        assert rows("select id from {schema}.kept") == [(2,)]
        assert rows("select id from {schema}.framed") == [(3,)]
        told = "file_format location_root buckets clustered_by cluster_by partition_by secure labels transient"
        for key in told.split():
            assert len([text for text in warned if f": {key}=" in text]) == 1, (key, warned)
        assert len([text for text in warned if "'idd'" in text and "'id'" in text]) == 2

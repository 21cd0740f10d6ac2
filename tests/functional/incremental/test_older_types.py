"""A WHERE finds the rows that were written before a column got a wider type."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

IN_ORC = VERSIONS.supports(Capability.FILTERS_AFTER_TYPE_CHANGE)
AS_TEXT = VERSIONS.supports(Capability.FILTERS_AFTER_CHANGE_TO_TEXT)
KEYED = "primary_key='id', bucket=1, "
AVRO, ORC = "tblproperties={'file.format': 'avro'}, ", "tblproperties={'file.format': 'orc'}, "
# name -> (config, the value of row 1, the value of row 2, which has a wider type, a condition that only row 1 meets)
WHOLE = ("5", "3000000000L", "v < 3000000000")
MODELS = {
    "appended": ("", *WHOLE),
    "keyed": (KEYED, *WHOLE),
    "small": ("", "cast(5 as smallint)", "40000", "v < 40000"),
    "real": (KEYED, "5", "7.5D", "v < 5.5"),
    "exact": ("", "5", "cast(7.5 as decimal(12,2))", "v < 5.5"),
    "digits": ("", "1.23", "cast(1.235 as decimal(8,3))", "v < 1.234"),
    "double": ("", "cast(0.1 as float)", "1e300D", "v < 1e100D"),
    "avro": (AVRO, *WHOLE),
    "merged": (KEYED + "incremental_strategy='merge', ", *WHOLE),
}
# The adapter refuses to ALTER these on versions that would filter them wrongly.
REFUSED = {"orc": (ORC + KEYED, *WHOLE), "text": ("", "5", "'a'", "v < '9a'")}
TAKEN = {"orc": IN_ORC, "text": AS_TEXT}
HEALED = "select {{ 2 if is_incremental() else 1 }} as id, 5 as v"
BUILT = """{{ config(materialized='table') }}
{% if var('second', false) %}select 2 as id, if(id < 9, raise_error('no'), 3000000000L) as v from range(1)
{% else %}select 1 as id, 5 as v{% endif %}"""
SNAPSHOT = """snapshots:
  - name: {name}
    relation: source('raw', 'numbers')
    config: {{unique_key: id, strategy: check, check_cols: [v], tblproperties: {{file.format: {format}}}}}
"""
UNFILTERED = "select count(*) from {schema}.`appended$options` where key like 'parquet.filter%'"


def model(config: str, query: str) -> str:
    return f"{{{{ config(materialized='incremental', {config}on_schema_change='sync_all_columns') }}}}\n{query}"


@pytest.mark.full
class TestOlderTypes:
    @pytest.fixture(scope="class")
    def models(self):
        found = {
            f"{name}.sql": model(
                config,
                f"{{% if is_incremental() %}}select 2 as id, {second} as v"
                f"{{% else %}}select 1 as id, {first} as v{{% endif %}}",
            )
            for name, (config, first, second, _) in {**MODELS, **REFUSED}.items()
        }
        return found | {"healed.sql": model("", HEALED), "built.sql": BUILT}

    @pytest.fixture(scope="class")
    def snapshots(self):
        table = "{name: numbers, identifier: \"{{ 'wide' if var('second', false) else 'numbers' }}\"}"
        source = f"sources: [{{name: raw, schema: '{{{{ target.schema }}}}', tables: [{table}]}}]\n"
        parts = [SNAPSHOT.format(name=f"in_{each}", format=each) for each in ("parquet", "orc")]
        return {"all.yml": source + parts[0] + parts[1].removeprefix("snapshots:\n")}

    @pytest.fixture(scope="class")
    def second(self, project, rows):
        """The results of the second run; between the runs another program widens a column of `healed`."""
        rows("create table {schema}.numbers using paimon as select 1 as id, 5 as v")
        run_dbt(["build"])
        rows("alter table {schema}.healed alter column v type bigint")
        rows("create table {schema}.wide using paimon as select * from values (1, 5L), (2, 3000000000L) as v(id, v)")
        results = run_dbt(["build", "--vars", "second: true"], expect_pass=False)
        return {result.node.name: result for result in results}

    @pytest.mark.parametrize("name", MODELS)
    def test_models(self, second, rows, name):
        assert rows(f"select id from {{schema}}.{name} where {MODELS[name][-1]}") == [(1,)]
        assert len(rows(f"select id from {{schema}}.{name}")) == 2

    @pytest.mark.parametrize("name", REFUSED)
    def test_models_that_are_refused(self, second, rows, name):
        if TAKEN[name]:
            assert rows(f"select id from {{schema}}.{name} where {REFUSED[name][-1]}") == [(1,)]
        else:
            assert "--full-refresh" in second[name].message
        assert len(rows(f"select id from {{schema}}.{name}")) == (2 if TAKEN[name] else 1)

    def test_an_alter_of_another_program(self, second, rows):
        assert rows("select id from {schema}.healed where v < 3000000000 order by id") == [(1,), (2,)]

    def test_a_rebuild_that_fails(self, second, rows):
        assert second["built"].status == "error"
        assert rows("select id from {schema}.built where v < 3000000000") == [(1,)]

    @pytest.mark.parametrize("name", ["in_parquet", "in_orc"])
    def test_snapshots(self, second, rows, name):
        if name == "in_orc" and not IN_ORC:
            assert "INSERT OVERWRITE" in second[name].message
            rows("alter table {schema}.in_orc alter column v type bigint")
            rows("insert overwrite {schema}.in_orc select * from {schema}.in_orc")
            run_dbt(["snapshot", "--select", name, "--vars", "second: true"])
        assert rows(f"select id from {{schema}}.{name} where v < 3000000000") == [(1,)]
        assert len(rows(f"select id from {{schema}}.{name}")) == 2

    def test_filters_come_back(self, second, rows):
        """Parquet's own filters are used again once no file has an older type; until then, runs alter nothing."""
        assert rows(UNFILTERED) == [(0 if IN_ORC else 2,)]
        altered = "select count(*) from {schema}.`appended$schemas`"
        before = rows(altered)
        run_dbt(["run", "--select", "appended"])
        assert rows(altered) == before
        rows("insert overwrite {schema}.appended select * from {schema}.appended")
        run_dbt(["run", "--select", "appended"])
        assert rows(UNFILTERED) == [(0,)]
        assert rows("select distinct id from {schema}.appended where v < 3000000000") == [(1,)]

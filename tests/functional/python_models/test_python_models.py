"""Python models: every kind of data frame, keys and options, increments, and clear errors."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

HEAD = "def model(dbt, session):\n    dbt.config(materialized='MATERIALIZED', primary_key='id', bucket=2)\n"
MODELS = {
    "spark_frame": HEAD + "    return dbt.ref('seen').selectExpr('id', 'id * 10 as n')",
    "pandas_frame": HEAD + "    return dbt.ref('base').toPandas().assign(n=lambda frame: frame.id * 10)",
    "pandas_on_spark": HEAD
    + "    frame = dbt.ref('base').pandas_api()\n    frame['n'] = frame['id'] * 10\n    return frame",
    "as_it_was": HEAD + "    dbt.ref('twice')\n    name = str(dbt.this).replace('as_it_was', 'twice')\n"
    "    return session.read.option('scan.snapshot-id', 1).table(name)",
    "increments": HEAD.replace("MATERIALIZED", "incremental")
    + "    first = 3 if dbt.is_incremental else 1\n    return session.range(first, 4).selectExpr('id', 'id * 10 as n')",
    "daily-report": HEAD + "    return dbt.ref('base').selectExpr('id', 'id * 10 as n')",
    "no_rows": HEAD + "    return dbt.ref('base').toPandas().assign(n=10, text='x', nothing=None).iloc[:0]",
}
# name -> (body of the model, expected part of the message)
BAD = {
    "returns_none": ("    return None", "NoneType"),
    "raises": ("    return 1 / 0", "ZeroDivisionError: division by zero\n    models/raises.py:3:12"),
    "exits": ("    import sys\n    sys.exit(3)\n    return None", "SystemExit: 3\n    models/exits.py:4"),
    "too_wide": (
        "    import pandas as pd\n    return pd.DataFrame({'id': [1, 2], 'n': [2**70, 1]})",
        f"column n: {2**70} does not fit into bigint",
    ),
    "unsigned": (
        "    import pandas as pd\n    return pd.DataFrame({'id': pd.Series([2**63], dtype='uint64')})",
        f"column id: {2**63} does not fit into bigint",
    ),
    "objects": (
        "    import uuid\n    import pandas as pd\n    return pd.DataFrame({'id': [uuid.uuid4()]})",
        "Python model 'objects': ",
    ),
    "option_of_iceberg": (
        "    return session.read.option('snapshot-id', 1).table(str(dbt.this))",
        "option_of_iceberg.py, line 3): Paimon has no option 'snapshot-id', and would read the newest rows of the table. Did you "
        "mean 'scan.snapshot-id'?",
    ),
    "options_of_delta": (
        "    return session.read.options(versionAsOf=1).table('t')",
        "Paimon has no option 'versionAsOf'",
    ),
    "no_columns": ("    import pandas as pd\n    return pd.DataFrame()", "without columns"),
}


class TestPythonModels:
    @pytest.fixture(scope="class")
    def models(self):
        codes = MODELS | {name: HEAD + body for name, (body, _) in BAD.items()}
        python = {f"{name}.py": code.replace("MATERIALIZED", "table") for name, code in codes.items()}
        return python | {
            "base.sql": "{{ config(materialized='table') }} select 1 as id union all select 2",
            "twice.sql": "{{ config(materialized='table', post_hook='insert into {{ this }} values (2)') }} select 1 as id",
            "seen.sql": "{{ config(materialized='view') }} select * from {{ ref('base') }}",
        }

    def test_models(self, project, rows):
        results = run_dbt(["run"], expect_pass=False)
        errors = {result.node.name: result.message for result in results if result.status == "error"}
        assert set(errors) == set(BAD)
        for name, (_, part) in BAD.items():
            assert part in errors[name], errors[name]
        assert rows("select id, n, text, nothing from {schema}.no_rows") == []
        for name in ("spark_frame", "pandas_frame", "pandas_on_spark", "daily-report"):
            assert sorted(rows(f"select id, n from {{schema}}.`{name}`")) == [(1, 10), (2, 20)], name
            options = dict(rows(f"select key, value from {{schema}}.`{name}$options`"))
            assert options["bucket"] == "2", name
        assert rows("select id from {schema}.as_it_was") == [(1,)]
        run_dbt(["run", "--select", "increments"])
        assert sorted(rows("select id, n from {schema}.increments")) == [(1, 10), (2, 20), (3, 30)]
        assert len(rows("select * from {schema}.`increments$snapshots`")) == 2

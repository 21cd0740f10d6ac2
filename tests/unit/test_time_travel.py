"""The arguments of at(), and the config of run tags and audits, without tables."""

from types import SimpleNamespace

import pytest
from dbt.artifacts.resources import TestConfig
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_started_at
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.metadata.snapshots import Recorded
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.run_tag import RunTag
from dbt.adapters.paimon.time_travel import branches, states
from dbt.adapters.paimon.time_travel.audits import result

TABLE = PaimonRelation.create(database="paimon", schema="my db", identifier="it`s", type="table")
P09 = Versions.of("0.9.0")


def asked(**arguments):
    kinds = dict.fromkeys(("snapshot", "tag", "timestamp", "branch"))
    return states.parse("at", TABLE, kinds | arguments)


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ({"snapshot": 3}, "`it``s` version as of 3"),
        ({"snapshot": "03"}, "`it``s` version as of 3"),
        ({"tag": "it's"}, r"`it``s` version as of 'it\'s'"),
        ({"timestamp": "2024-01-31"}, "`it``s` timestamp as of '2024-01-31 00:00:00'"),
        ({"timestamp": "2024-01-31T12:00:00.5"}, "`it``s` timestamp as of '2024-01-31 12:00:00.500000'"),
        ({"branch": "b-1"}, "`it``s$branch_b-1`"),
    ],
)
def test_read(arguments, read):
    assert str(states.read(TABLE, asked(**arguments))) == f"`paimon`.`my db`.{read}"


def test_the_limit_of_an_empty_run_is_outside_the_time_travel():
    limited = states.read(TABLE.replace(limit=0), asked(snapshot=3))
    assert str(limited) == "(select * from `paimon`.`my db`.`it``s` version as of 3 where false limit 0)"


def test_many_names_are_shortened():
    recorded = [Recorded(f"t{number}") for number in range(50)]
    problem = states.missing("at", TABLE, asked(tag="x"), recorded)
    assert problem.endswith("there is no tag 'x'. It has: t0, t1, t2, …, t47, t48, t49 (50 in all).")


def test_a_table_without_snapshots():
    assert states.missing("at", TABLE, asked(snapshot=1), []).endswith("there is no table snapshot 1. It has none.")
    assert "has no snapshot yet" in states.missing("at", TABLE, asked(timestamp="2024-01-01"), [])


def test_losses_are_named_together():
    rows = [("table snapshot", "4"), ("table snapshot", "5"), ("tag", "kept")]
    assert "table snapshots 4, 5; tags kept" in branches.losses(TABLE, "b", rows)
    assert branches.losses(TABLE, "b", []) == ""


def spec(**config):
    return table_spec(config, model="m", versions=config.pop("versions", P09))


def test_table_tag():
    assert spec(table_tag="v1").tag == RunTag("v1")
    assert spec(table_tag={"name": "v1", "time_retained": "7 d", "if_exists": "keep"}).tag == RunTag(
        "v1", "7 d", "keep"
    )
    assert spec(table_tag="run_%Y%m%d").tag == RunTag(f"run_{get_invocation_started_at():%Y%m%d}")
    assert spec().tag is None


def test_auto_tags_are_options():
    wanted = {"creation": "process-time", "period": "daily", "num_retained_max": 30}
    assert spec(auto_tags=wanted).options == {
        "tag.automatic-creation": "process-time",
        "tag.creation-period": "daily",
        "tag.num-retained-max": "30",
    }


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        (
            {"table_tag": {"name": "1", "time_retained": "long", "if_exists": "fail", "nme": "x"}},
            ("cannot be a number", "table_tag.time_retained='long'", "table_tag.if_exists='fail'", "'name'?"),
        ),
        ({"table_tag": 5}, ("the name of the tag is needed",)),
        (
            {"auto_tags": {"creation": "sometimes", "perod": "daily"}},
            ("auto_tags.creation='sometimes'", "Did you mean 'period'?"),
        ),
        ({"auto_tags": "daily"}, ("a mapping is needed", "{'creation': 'process-time', 'period': 'daily'}")),
        ({"wap": "maybe"}, ("wap='maybe': true or false is needed",)),
        ({"wap": True, "materialized": "seed"}, ("a seed cannot be audited before its commit",)),
        ({"wap": True, "incremental_strategy": "microbatch"}, ("incremental_strategy='microbatch'",)),
        ({"wap": True, "incremental_strategy": "apply_changes"}, ("incremental_strategy='apply_changes'",)),
        (
            {"wap": True, "versions": Versions.of("0.9.0", catalog_kind="jdbc")},
            ("branches: a jdbc catalog has none",),
        ),
        (
            {"wap": True, "bucket": -2, "primary_key": "id", "versions": Versions.of("1.4.2")},
            ("rows that are not compacted yet cannot be audited (bucket=-2)",),
        ),
    ],
)
def test_refused(config, parts):
    with pytest.raises(ConfigErrors) as refused:
        spec(**config)
    for part in parts:
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("severity", "row", "weighed"),
    [
        ("ERROR", (2, True, True), (True, False)),
        ("ERROR", (2, "true", "false"), (False, True)),
        ("WARN", (2, 1, 1), (False, True)),
        ("ERROR", (0, False, False), (False, False)),
    ],
)
def test_an_audit_has_the_severity_of_its_data_test(severity, row, weighed):
    found = result(SimpleNamespace(name="t", config=TestConfig(severity=severity)), row)
    assert (found.is_error, found.is_warning) == weighed


def test_one_state_only():
    with pytest.raises(DbtRuntimeError, match="exactly one of snapshot, tag, timestamp, branch"):
        asked(snapshot=1, tag="x")

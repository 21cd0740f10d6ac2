"""Maintenance policies from config, and the actions that are due in a given state of a table."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from dbt_common.exceptions import DbtRuntimeError
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.maintenance import due, selection, times
from dbt.adapters.paimon.metadata.partitions import partition_values
from dbt.adapters.paimon.metadata.upkeep import Partition, TableState
from dbt.adapters.paimon.options.table_options import option_fault
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.components.maintenance import expiry_problems
from dbt.adapters.paimon.spec.maintenance_policy import (
    Compact,
    ExpirePartitions,
    ExpireSnapshots,
    MaintenancePolicy,
    Rescale,
)
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.table import TableSpec

P09, P14, P20 = (Versions.of(version) for version in ("0.9.0", "1.4.2", "2.0.0"))
TABLE = PaimonRelation.create(database="paimon", schema="db", identifier="t", type="table")
NOW = datetime.fromisoformat("2024-03-10 12:00:00")
STATE = TableState(now=NOW, wall_clock=NOW + timedelta(hours=5), types={"dt": "string", "n": "int", "d": "date"})


def spec_of(maintenance, versions=P09, **config):
    return table_spec({"maintenance": maintenance} | config, model="m", versions=versions)


def test_the_policy_in_the_docs():
    spec = spec_of(
        {
            "compact": {
                "order_by": ["a"],
                "order": "zorder",
                "partitions": {"newest": 2},
                "every_commits": 10,
            },
            "expire_snapshots": {"retain_max": 20, "retain_min": 5, "older_than": "2 d"},
            "expire_partitions": {"expiration_time": "90 d", "timestamp_formatter": "yyyy-MM-dd"},
            "remove_orphan_files": {"older_than": "3 d"},
        },
        partition_by="dt",
    )
    policy = spec.maintenance
    assert policy.compact == Compact(order="zorder", order_by=("a",), newest=2, small_files=0, every_commits=10)
    assert policy.expire_snapshots == ExpireSnapshots(20, 5, "2 d")
    assert policy.expire_partitions == ExpirePartitions("90 d", "yyyy-MM-dd")
    assert policy.after_run().remove_orphan_files is None
    assert spec.options == {
        "snapshot.num-retained.min": "5",
        "snapshot.num-retained.max": "20",
        "snapshot.time-retained": "2 d",
    }


def test_a_number_as_text():
    spec = spec_of({"expire_snapshots": {"retain_max": 20, "retain_min": "015"}})
    assert spec.maintenance.expire_snapshots.retain_min == 15


@pytest.mark.parametrize("nothing", [None, {}, {"enabled": False, "compact": {}}])
def test_no_policy(nothing):
    assert spec_of(nothing).maintenance is None


def test_an_action_that_is_switched_off():
    assert spec_of({"compact": None, "expire_snapshots": False}).maintenance.is_empty
    assert spec_of({"compact": True}).maintenance.compact == Compact()


@pytest.mark.parametrize(
    ("maintenance", "config", "part"),
    [
        ("full", {}, "maintenance='full': a mapping is needed"),
        ({"compakt": {}}, {}, "maintenance.compakt={}: unknown key. Did you mean 'compact'?"),
        ({"on_failure": "ignore"}, {}, "Use warn or error"),
        ({"compact": "full"}, {}, "maintenance.compact='full': a mapping is needed"),
        ({"compact": {"strategy": "ful"}}, {}, "Did you mean 'full'?"),
        ({"compact": {"strategy": "minor"}}, {}, "needs Paimon >= 1.0, this is 0.9.0"),
        ({"compact": {"small_files": 1}}, {}, "a whole number from 2 is needed"),
        ({"compact": {"every_commits": "often"}}, {}, "a whole number from 1 is needed"),
        ({"compact": {"after_run": "no"}}, {}, "true or false is needed"),
        ({"compact": {"order": "zorder"}}, {}, "needs order_by"),
        ({"compact": {"order_by": "a"}}, {"primary_key": "a"}, "only tables without primary_key"),
        ({"compact": {"order_by": "a"}}, {"bucket": 2, "bucket_key": "a"}, "only tables without primary_key"),
        ({"compact": {"order_by": "dt"}}, {"partition_by": "dt"}, "dt is in partition_by"),
        ({"compact": {"partitions": "newest"}}, {}, "the table has no partitions"),
        ({"compact": {"partitions": "oldest"}}, {"partition_by": "dt"}, "not understood"),
        ({"compact": {"partitions": {"newer": 1}}}, {"partition_by": "dt"}, "Did you mean 'newest'?"),
        ({"compact": {"partitions": {"newest": 1, "where": "a"}}}, {"partition_by": "dt"}, "one of newest"),
        ({"compact": {"partitions": {"older_than": "old"}}}, {"partition_by": "dt"}, "a duration is needed"),
        (
            {"compact": {}},
            {"primary_key": "id", "partition_by": "dt"},
            "whose keys may change their partition",
        ),
        ({"expire_snapshots": {}}, {}, "has nothing to expire"),
        ({"expire_snapshots": {"retain_max": 2, "retain_min": 3}}, {}, "is above retain_max=2"),
        (
            {"expire_snapshots": {"retain_max": 2}},
            {"snapshot_retention": {"num_retained_max": 30}},
            "would set 'snapshot.num-retained.max' to '2', and the model sets it to '30'",
        ),
        ({"expire_partitions": {"expiration_time": "9 d"}}, {}, "the table has no partitions"),
        (
            {"expire_partitions": {}},
            {"partition_by": "dt"},
            "maintenance.expire_partitions.expiration_time: required",
        ),
        (
            {"expire_partitions": {"expiration_time": "9 d", "timestamp_pattern": "$day"}},
            {"partition_by": "dt"},
            "'$day' is not a partition column. Use $dt",
        ),
        ({"remove_orphan_files": {"older_than": "1 h"}}, {}, "Use '1 d' or more"),
        ({"remove_orphan_files": True}, {"partition_by": ["a", "b"]}, "several partition columns"),
    ],
)
def test_refused(maintenance, config, part):
    with pytest.raises(ConfigErrors) as raised:
        spec_of(maintenance, **config)
    assert part in str(raised.value)
    assert str(raised.value.problems[0]).startswith("model 'm': maintenance")


@pytest.mark.parametrize(
    ("version", "catalog", "told", "refused"),
    [
        ("0.9.0", "hive", None, True),
        ("0.9.0", "hive", "false", True),
        ("0.9.0", "hive", "true", False),
        ("0.9.0", "filesystem", None, False),
        ("1.4.2", "hive", None, False),
    ],
)
def test_partitions_that_a_metastore_does_not_know(version, catalog, told, refused):
    versions = Versions.of(version, catalog_kind=catalog)
    properties = {} if told is None else {"tblproperties": {"metastore.partitioned-table": told}}
    arguments = ({"expire_partitions": {"expiration_time": "9 d"}}, versions)
    if not refused:
        assert spec_of(*arguments, partition_by="dt", **properties).maintenance
        return
    with pytest.raises(ConfigErrors, match=r"Set 'metastore\.partitioned-table': 'true'"):
        spec_of(*arguments, partition_by="dt", **properties)


@pytest.mark.parametrize(("pattern", "expires"), [("", True), ("$hour", True), ("$hour $day", False), ("$day", False)])
def test_a_date_may_be_a_partition_column_that_is_not_read_as_a_time(pattern, expires):
    expire = ExpirePartitions("9 d", timestamp_pattern=pattern, expire_strategy="values-time")
    problems = list(expiry_problems(expire, {"hour": "string", "day": "date"}, ("hour", "day")))
    assert (not problems) is expires


def test_all_problems_at_once():
    with pytest.raises(ConfigErrors) as raised:
        spec_of({"compact": {"small_files": 0}, "expire_snapshots": {"retain_maks": 2}}, merge_engin="x")
    assert len(raised.value.problems) == 4


@pytest.mark.parametrize("versions", [P09, P14, P20])
def test_async_expiry_is_refused(versions):
    with pytest.raises(ConfigErrors, match="interrupts what still expires"):
        spec_of(None, versions, tblproperties={"snapshot.expire.execution-mode": "async"})


@pytest.mark.parametrize("name", ["compaction.min.file-num", "full-compaction.delta-commits"])
@pytest.mark.parametrize("version", ["0.9.0", "1.4.2", "2.0.0"])
def test_options_of_the_guide(name, version):
    assert option_fault(name, 5, version) is None
    assert option_fault("compaction.optimization-interval", "1h", version) is None
    gone = option_fault("compaction.max.file-num", 10, version)
    assert gone == (None if version == "0.9.0" else f"Paimon {version} no longer has it; 0.9 did. Remove it")


# -- plans ---------------------------------------------------------------------------------------------------------


def planned(policy, versions=P09, spec=None, *, force=False, **state):
    actions = due.actions(
        TABLE,
        policy,
        TableState(**(STATE.__dict__ | state)),
        spec or TableSpec(("id",), (), {}),
        versions,
        force=force,
    )
    return {action.name: action for action in actions}


@pytest.mark.parametrize(
    ("small_files", "commits", "due"), [(9, 0, False), (10, 0, True), (0, 4, False), (0, 5, True), (0, None, True)]
)
def test_compaction_is_due(small_files, commits, due):
    policy = MaintenancePolicy(Compact(small_files=10, every_commits=5))
    action = planned(policy, small_files=small_files, commits=commits)["compact"]
    assert action.due is due
    assert planned(policy, force=True)["compact"].due
    assert action.statement.sql == "CALL `paimon`.sys.compact(table => 'paimon.db.t')"


def test_compaction_of_the_newest_partitions():
    spec = TableSpec(partition_by=("n", "d"))
    days = [Partition({"n": str(n), "d": "2024-01-09"}, n, NOW) for n in (9, 10, 2)]
    days.append(Partition({"n": "null", "d": "2024-01-09"}, 50, NOW))
    sql = planned(MaintenancePolicy(Compact(newest=1)), spec=spec, partitions=tuple(days))["compact"].statement.sql
    assert r"where => '(`n` = 10 AND `d` = DATE \'2024-01-09\')'" in sql
    assert "options => 'compaction.min.file-num=10,compaction.max.file-num=10'" in sql
    later = planned(MaintenancePolicy(Compact(idle="1 d")), P14, spec=spec, small_files=12)["compact"].statement.sql
    assert "partition_idle_time => '1 d'" in later
    assert "compact_strategy => 'full'" in later
    assert "options => 'compaction.min.file-num=10'" in later


@pytest.mark.parametrize(
    ("expire", "young", "due"),
    [
        (ExpireSnapshots(5, 5), None, 5),  # by number alone
        (ExpireSnapshots(None, 2, "1 d"), 8, 7),  # all before the first young snapshot
        (ExpireSnapshots(None, 2, "1 d"), None, 8),  # all are old; two are kept
        (ExpireSnapshots(6, 2, "1 d"), 3, 4),  # retain_max applies to young snapshots, too
        (ExpireSnapshots(20, 10, "1 d"), None, 0),
    ],
)
def test_snapshots_that_are_due(expire, young, due):
    state = {"first_snapshot": 1, "last_snapshot": 10, "first_young_snapshot": young}
    action = planned(MaintenancePolicy(expire_snapshots=expire), **state)["expire_snapshots"]
    assert action.due is (due > 0)
    assert action.why.startswith(f"{due} of 10 ")
    # Snapshots that a stream still has to read are kept.
    read = planned(MaintenancePolicy(expire_snapshots=expire), **state, next_read=1)["expire_snapshots"]
    assert not read.due


def test_the_snapshot_that_was_current_at_the_age_limit_is_kept():
    policy = MaintenancePolicy(expire_snapshots=ExpireSnapshots(None, 2, "1 d"))
    for young, expired in ((8, 6), (2, 0), (1, 0)):
        state = {"first_snapshot": 1, "last_snapshot": 10, "first_young_snapshot": young}
        action = planned(policy, P20, **state)["expire_snapshots"]
        assert action.due is (expired > 0)
        assert action.why.startswith(f"{expired} of 10 ")


def test_ages_are_in_the_time_zone_of_their_reader():
    policy = MaintenancePolicy(expire_snapshots=ExpireSnapshots(None, 1, "2 d"))
    assert "older_than => TIMESTAMP '2024-03-08 12:00:00'" in planned(policy)["expire_snapshots"].statement.sql
    assert "older_than => '2024-03-08 17:00:00'" in planned(policy, P14)["expire_snapshots"].statement.sql


def test_partitions_expire_on_the_sessions_clock():
    """The JVM's clock is five hours ahead."""
    hours = tuple(Partition({"dt": f"2024-03-10 {hour:02}"}, 0, NOW) for hour in (3, 5))
    policy = MaintenancePolicy(expire_partitions=ExpirePartitions("8 h", "yyyy-MM-dd HH"))
    action = planned(policy, partitions=hours)["expire_partitions"]
    assert "1 of 2 partitions" in action.why
    assert "expiration_time => '46800 s'" in action.statement.sql
    by_file = ExpirePartitions("4 h", expire_strategy="update-time")
    action = planned(MaintenancePolicy(expire_partitions=by_file), partitions=hours)["expire_partitions"]
    assert "2 of 2 partitions" in action.why
    assert "expiration_time => '4 h'" in action.statement.sql


@pytest.mark.parametrize(
    ("duration", "ahead", "read"),
    [("8 h", 0, "8 h"), ("8 h", 3600, "32400 s"), ("8 h", -28800, "0 s"), ("soon", 60, "soon"), (30, 60, 30)],
)
def test_an_age_on_the_jvms_clock(duration, ahead, read):
    assert times.expiration_time(duration, ahead) == read


def test_an_age_that_the_jvms_clock_has_not_reached():
    with pytest.raises(DbtRuntimeError, match=r"32400 s behind the session's.*-Duser.timezone"):
        times.expiration_time("8 h", -32400)


@pytest.mark.parametrize(
    ("text", "columns", "values"),
    [
        ("[it's]", ("dt",), {"dt": "it's"}),
        ("[a, b]", ("dt",), {"dt": "a, b"}),
        ("[19791, 7]", ("d", "n"), {"d": "2024-03-09", "n": "7"}),
        ("{2024-03-09}", ("d",), {"d": "2024-03-09"}),
        ("dt=a/b/n=7", ("dt", "n"), {"dt": "a/b", "n": "7"}),
        ("[a, b, 7]", ("dt", "n"), None),
    ],
)
def test_partition_values(text, columns, values):
    assert partition_values(text, columns, STATE.types) == values


@pytest.mark.parametrize(
    ("value", "formatter", "pattern", "expired"),
    [
        ("2024-01-01", "", "", True),
        ("2024-03-09", "", "", False),
        ("2024-1-1 07:00:00", "", "", True),
        ("20240101", "yyyyMMdd", "", True),
        ("20240309", "yyyyMMdd", "", False),
        ("01", "yyyy-MM-dd", "2024-$dt-05", True),
        ("nonsense", "yyyy-MM-dd", "", False),
        # Only Java understands this formatter, so Paimon is called to decide.
        ("1 Jan 2024", "d MMM yyyy", "", True),
    ],
)
def test_partitions_that_are_due(value, formatter, pattern, expired):
    policy = MaintenancePolicy(expire_partitions=ExpirePartitions("30 d", formatter, pattern))
    partitions = (Partition({"dt": value}, 0, NOW),)
    assert planned(policy, partitions=partitions)["expire_partitions"].due is expired


@pytest.mark.parametrize(
    ("spec", "largest", "buckets"),
    [
        (TableSpec(auto_buckets=True), 1000, None),
        (TableSpec(auto_buckets=True), 1001, 6),
        # The config sets the number: after a rescale to a different number, the next run would be refused.
        (TableSpec(options={"bucket": "2"}), 1001, None),
    ],
)
def test_tables_that_have_outgrown_their_buckets(spec, largest, buckets):
    policy = MaintenancePolicy(rescale=Rescale(max_bucket_size=1000))
    action = planned(policy, spec=spec, largest_bucket=largest, largest_partition=2600, fixed_buckets=2)["rescale"]
    assert action.due is (buckets is not None)
    if buckets:
        assert action.buckets == buckets


def test_lines():
    actions = planned(MaintenancePolicy(Compact()), small_files=12).values()
    assert list(due.lines(list(actions), dry_run=True)) == [
        "compact: would run: 12 small files in a bucket (due from 10)"
    ]


# -- selection -----------------------------------------------------------------------------------------------------


def node(name, folder, *tags, kind="table"):
    return {
        "unique_id": f"model.shop.{name}",
        "name": name,
        "resource_type": "model",
        "config": {"materialized": kind},
        "tags": list(tags),
        "fqn": ["shop", folder, name],
        "original_file_path": f"models/{folder}/{name}.sql",
    }


NODES = [
    node("orders", "marts", "nightly"),
    node("customers", "marts"),
    node("stg_orders", "staging", "nightly"),
    node("seen", "staging", kind="view"),
    node("totals", "views", kind="materialized_view"),
]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (None, ["customers", "orders", "stg_orders", "totals"]),
        ("orders", ["orders"]),
        ("*orders", ["orders", "stg_orders"]),
        ("tag:nightly", ["orders", "stg_orders"]),
        ("marts", ["customers", "orders"]),
        ("shop.marts", ["customers", "orders"]),
        ("models/marts", ["customers", "orders"]),
        ("path:models/staging/", ["stg_orders"]),
        (["customers", "tag:nightly"], ["customers", "orders", "stg_orders"]),
        ("customers stg_orders", ["customers", "stg_orders"]),
    ],
)
def test_select(wanted, names):
    assert [found["name"] for found in selection.select(NODES, wanted, "maintain")] == names


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        ("ordrs", "Did you mean 'orders'?"),
        ("seen", "'seen': matches no table in this project"),
        ("+orders", "dbt ls --select +orders"),
        ([], "select is empty"),
    ],
)
def test_select_nothing(wanted, part):
    with pytest.raises(DbtRuntimeError) as raised:
        selection.select(NODES, wanted, "maintain")
    assert part in str(raised.value)

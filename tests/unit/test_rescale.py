"""The steps of a rescale, and what is refused before the first step."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.maintenance.compaction import compaction_problems
from dbt.adapters.paimon.maintenance.rescale import rescale_steps
from dbt.adapters.paimon.tables.existing import ExistingTable

TABLE = ("paimon", "s", "t")
STATIC = {"spark.sql.sources.partitionOverwriteMode": "static"}
DYNAMIC = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
ALTER = "alter table `paimon`.`s`.`t` set tblproperties ('bucket' = '4')"
MARK = "alter table `paimon`.`s`.`t` set tblproperties ('dbt.buckets' = 'rescaling')"
UNMARK = "alter table `paimon`.`s`.`t` unset tblproperties ('dbt.buckets')"


def table(bucket: str | None = "2", partition_by=("dt",), key=("id", "dt"), **options: str) -> ExistingTable:
    written = {name.replace("_", "-"): value for name, value in options.items()}
    return ExistingTable(key, partition_by, ({"bucket": bucket} if bucket else {}) | written)


def steps(existing: ExistingTable, version: str = "0.9.0", **arguments) -> list[tuple[str, dict[str, str]]]:
    found = rescale_steps(TABLE, existing, Versions.of(version), **arguments)
    return [(step.sql, dict(step.conf)) for step in found]


def refused(existing: ExistingTable, version: str = "0.9.0", **arguments) -> str:
    with pytest.raises(DbtRuntimeError) as caught:
        steps(existing, version, **arguments)
    return str(caught.value)


def test_a_table_is_rewritten_whole():
    rewrite = ("insert overwrite `paimon`.`s`.`t` select * from `paimon`.`s`.`t`", STATIC)
    assert steps(table(), bucket_num=4) == [(MARK, {}), (ALTER, {}), rewrite, (UNMARK, {})]
    # A rescale that was killed after its ALTER.
    begun = ExistingTable(("id", "dt"), ("dt",), {"bucket": "4", "dbt.buckets": "rescaling"})
    assert steps(begun) == [(MARK, {}), rewrite, (UNMARK, {})]
    # If it fails again, the mark stays.
    mark, *_ = rescale_steps(TABLE, begun, Versions.of("0.9.0"))
    assert not mark.undo
    mark, *_ = rescale_steps(TABLE, table(), Versions.of("0.9.0"), bucket_num=4)
    assert mark.undo == UNMARK


def test_a_failed_rescale_restores_the_mark_of_a_number_that_is_not_chosen_yet():
    undecided = ExistingTable(("id", "dt"), ("dt",), {"bucket": "1", "dbt.buckets": "undecided"})
    mark, *_ = rescale_steps(TABLE, undecided, Versions.of("1.4.2"), bucket_num=8)
    assert mark.undo == MARK.replace("rescaling", "undecided")


def test_a_table_without_a_table_snapshot_is_only_altered():
    assert steps(table(), "1.4.2", bucket_num=4, has_rows=False) == [(MARK, {}), (ALTER, {}), (UNMARK, {})]


def test_other_partitions_are_not_rewritten():
    assert steps(table(), bucket_num=4, partitions=[{"dt": "it's"}, {"dt": None}]) == [
        (ALTER, {}),
        (
            "insert overwrite `paimon`.`s`.`t` select * from `paimon`.`s`.`t` "
            r"where (`dt` = 'it\'s') OR (`dt` IS NULL)",
            DYNAMIC,
        ),
    ]


def test_without_a_new_number_of_buckets():
    (only,) = steps(table("4"), partitions={"dt": "a"})
    assert only[0].startswith("insert overwrite") and only[1] == DYNAMIC


def test_paimons_own_procedure():
    call = "CALL `paimon`.sys.rescale(table => 'paimon.s.t'"
    where = r", where => '(`dt` = \'a\')'"
    assert steps(table(), "1.4.2", bucket_num=4) == [
        (MARK, {}),
        (ALTER, {}),
        # Partitions without visible rows are overwritten, too.
        (call + ")", {"spark.paimon.dynamic-partition-overwrite": "false"}),
        (UNMARK, {}),
    ]
    assert steps(table(), "1.4.2", partitions={"dt": "a"}) == [(call + where + ")", {})]
    assert steps(table("-2"), "1.4.2", bucket_num=4, partitions={"dt": "a"}) == [
        (call + ", bucket_num => 4" + where + ")", {})
    ]


def test_an_option_by_which_the_procedure_would_lose_partitions():
    kept = table(dynamic_partition_overwrite="false")
    assert steps(kept, "1.4.2", partitions={"dt": "a"})[0][1] == DYNAMIC
    postpone = table("-2", dynamic_partition_overwrite="false")
    assert "would delete all other partitions" in refused(postpone, "1.4.2", bucket_num=4, partitions={"dt": "a"})


@pytest.mark.parametrize("options", [{"deletion_vectors.enabled": "true"}, {"merge_engine": "first-row"}])
def test_a_table_with_hidden_rows_is_compacted_first(options):
    hidden = table(write_only="true", **options)
    assert steps(hidden, bucket_num=4)[0] == ("CALL `paimon`.sys.compact(table => 'paimon.s.t')", {})
    assert steps(table(**options), bucket_num=4)[0] == (MARK, {})


@pytest.mark.parametrize(
    ("existing", "version", "arguments", "said"),
    [
        (table(), "1.4.2", {"bucket_num": 4, "partitions": {"dt": "a"}}, "keys written to them again"),
        (table(None), "0.9.0", {"bucket_num": 4}, "its buckets grow in number with the rows (bucket=-1)"),
        (table("-1", key=()), "1.4.2", {"bucket_num": 4}, "set bucket in the model's config"),
        (table(), "0.9.0", {"bucket_num": 0}, "bucket_num=0: must be at least 1"),
        (table(), "0.9.0", {"bucket_num": "four"}, "bucket_num='four': must be a whole number"),
        (table(), "0.9.0", {"partitions": "dt=a"}, "must be a list of partitions"),
        (table(), "0.9.0", {"partitions": {"id": 1}}, "id is not a partition column. The table has dt."),
        (table(partition_by=()), "0.9.0", {"partitions": {"dt": "a"}}, "partitions: the table has no partitions"),
        (table("-2"), "1.3.0", {"bucket_num": 4}, "sys.rescale: needs Paimon >= 1.4, this is 1.3.0"),
        (table("-2"), "1.4.2", {}, "bucket_num: required, because the table's bucket is -2"),
    ],
)
def test_refused(existing, version, arguments, said):
    assert said in refused(existing, version, **arguments)


def test_all_problems_at_once():
    said = refused(table(), bucket_num=0, partitions=[{"id": 1}])
    assert "at least 1" in said and "id is not a partition column" in said


@pytest.mark.parametrize(
    ("existing", "version", "arguments", "said"),
    [
        (table("-2"), "1.4.2", {"partitions": [{"dt": "a"}]}, "partitions: postpone buckets (bucket=-2)"),
        (table("-2"), "1.4.2", {"where": "dt = 'a'"}, "where: postpone buckets (bucket=-2)"),
        (table("-2"), "1.4.2", {"order_strategy": "zorder", "order_by": "v"}, "order_strategy: only tables"),
        (table("-2"), "1.4.2", {"order_by": "v"}, "order_by: only tables"),
        (table("-2"), "1.3.0", {}, "needs Paimon >= 1.4, this is 1.3.0. Compact the table with Flink"),
        (table("-1", key=("id",)), "1.4.2", {}, "its primary key leaves out a partition column"),
    ],
)
def test_compactions_that_paimon_does_not_support(existing, version, arguments, said):
    (problem,) = compaction_problems(existing.as_spec(), arguments, Versions.of(version))
    assert said in problem


@pytest.mark.parametrize(
    "existing", [table("-2"), table("2"), table(None), table(None, key=()), table("2", key=("id",))]
)
def test_compactions_that_paimon_supports(existing):
    arguments = {"partitions": None, "where": None, "options": {"write-only": False}}
    assert compaction_problems(existing.as_spec(), arguments, Versions.of("1.4.2")) == ()

"""The report's advice, figures and page, without a browser."""

from __future__ import annotations

import builtins
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.metadata.facts import FileGroup
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt_paimon.report import charts, figures, lineage, page, runs
from dbt_paimon.report.advice import LIMITS, Condition, advice
from dbt_paimon.report.figures import LineageNode, Reader, Table, TableSnapshot
from synthetic_report import NOW, facts, report, table

MACROS = Path(__file__).parents[2] / "src/dbt/include/paimon/macros/monitoring"
DAY = 86_400
GB = 1024**3


@pytest.mark.parametrize("test", LIMITS)
def test_limits_are_the_defaults_of_the_data_tests(test: str) -> None:
    (signature,) = re.findall(
        rf"{{% test {test}\((.*?)\) %}}", "\n".join(file.read_text() for file in MACROS.rglob("*.sql"))
    )
    defaults = dict(re.findall(r"(\w+)='?([^,']+)'?", signature))
    assert {name: defaults[name] for name in LIMITS[test]} == {name: str(value) for name, value in LIMITS[test].items()}


@pytest.mark.parametrize(
    ("condition", "rule", "command"),
    [
        (
            Condition("t", "shop.t", is_keyed=True, sorted_runs=6),
            "compaction_needed",
            "compact --args '{relation: shop.t}'",
        ),
        (
            Condition("t", "shop.t", has_policy=True, is_keyed=True, sorted_runs=6),
            "compaction_needed",
            "maintain --args '{select: t, force: true}'",
        ),
        (Condition("t", "shop.t", most_small_files=51, small_files=51, files=60), "compaction_needed", "compact"),
        (Condition("t", "shop.t", small_files=21, files=60), "small_files", "compact"),
        (
            Condition("t", "shop.t", snapshots=101),
            "snapshot_count",
            "expire_snapshots --args '{relation: shop.t, retain_max: 20}'",
        ),
        (Condition("t", "shop.t", snapshots=11, oldest_snapshot=9 * DAY), "snapshot_age", "expire_snapshots"),
        (Condition("t", "shop.t", skew=3.1), "bucket_skew", "dbt build --select t --full-refresh"),
        (
            Condition("t", "shop.t", largest_bucket=6 * GB, largest_partition=20 * GB, fixed_buckets=4),
            "bucket_size",
            "rescale --args '{relation: shop.t, bucket_num: 20}'",
        ),
        (Condition("t", "shop.t", largest_bucket=6 * GB), "bucket_size", "dbt build"),
        # Paimon's `retain_max` deletes table snapshots of any age.
        (
            Condition("t", "shop.t", snapshots=400, oldest_snapshot=17 * DAY, time_retained=15 * DAY),
            "snapshot_count",
            "expire_snapshots --args '{relation: shop.t, older_than: ",
        ),
        # Of a source, dbt can build nothing.
        (
            Condition("", "raw.t", largest_bucket=6 * GB, largest_partition=20 * GB, fixed_buckets=4),
            "bucket_size",
            "rescale --args '{relation: raw.t, bucket_num: 20}'",
        ),
        (Condition("", "raw.t", largest_bucket=6 * GB), "bucket_size", ""),
        # Dropping partitions deletes rows.
        (Condition("t", "shop.t", partitions=1001), "partition_count", ""),
    ],
)
def test_advice(condition: Condition, rule: str, command: str) -> None:
    (found,) = advice(condition)
    assert found.rule == rule
    assert command in found.command
    assert bool(command) == bool(found.command)


@pytest.mark.parametrize(
    "condition",
    [
        Condition("t", "shop.t", is_keyed=True, sorted_runs=5, small_files=20, files=30, snapshots=100, skew=3),
        # The table's options keep all of them.
        Condition("t", "shop.t", snapshots=360, oldest_snapshot=15 * DAY, time_retained=15 * DAY),
        Condition("t", "shop.t", snapshots=200, oldest_snapshot=DAY, least_snapshots=200),
        # So few table snapshots cannot expire.
        Condition("t", "shop.t", snapshots=10, oldest_snapshot=400 * DAY),
    ],
)
def test_nothing_to_fix(condition: Condition) -> None:
    assert advice(condition) == ()


def test_who_keeps_old_snapshots() -> None:
    (found,) = advice(Condition("t", "shop.t", snapshots=200, consumers=("downstream",)))
    assert found.then.endswith("until they read on or are deleted: downstream.")


def test_figures() -> None:
    found = figures.figures(
        facts(
            groups=(
                FileGroup("d=1", 0, 0, 3, 3, 30, 300),
                FileGroup("d=1", 0, 5, 1, 0, 60, 600),
                FileGroup("d=1", 1, 5, 1, 1, 10, 100),
            ),
            schema=Schema(0, (), (), ("id",), {"bucket": "4"}, ""),
        )
    )
    assert (found["rows"], found["bytes"], found["files"]) == (100, 1000, 5)
    # Bucket 1 has only one file, which cannot be merged with another.
    assert found["small_files"] == 3
    assert found["sorted_runs"] == 4
    assert found["skew"] == 90 / 25
    assert found["levels"] == {0: (3, 300), 5: (2, 700)}
    assert found["commits_since_compaction"] == 2


def test_behind() -> None:
    snapshots = [
        TableSnapshot(number, kind, "u", NOW, added=added)
        for number, kind, added in ((1, "APPEND", 5), (2, "COMPACT", -1), (3, "OVERWRITE", -4))
    ]
    assert figures.behind(snapshots, 1) == (1, 4)


def test_tables_list_their_readers() -> None:
    source = table(0)
    reader = replace(table(1), reads=(Reader("table_0001", "incremental model", source.name, "11"),))
    one, other = figures.connected([source, reader])
    assert [(each.name, each.behind) for each in one.readers] == [("downstream", 2), ("table_0001", 1)]
    assert other.reads[0].behind == 1


def test_lineage_reads_through_ephemeral_models() -> None:
    def node(name: str, *reads: str, materialized: str = "table") -> dict[str, object]:
        return {
            "unique_id": name,
            "name": name,
            "resource_type": "model",
            "config": {"materialized": materialized},
            "depends_on": {"nodes": reads},
        }

    nodes = [node("a"), node("b", "a", materialized="ephemeral"), node("c", "b"), node("d", "c")]
    found = lineage.of(nodes, frozenset("abcd"))
    assert found == (
        LineageNode("a", "a", "table"),
        LineageNode("c", "c", "table", ("a",)),
        LineageNode("d", "d", "table", ("c",)),
    )
    assert [(each.node.node, each.column) for each in lineage.placed(found)] == [("a", 0), ("c", 1), ("d", 2)]


def test_runs(tmp_path: Path) -> None:
    result = {
        "unique_id": "model.shop.orders",
        "status": "error",
        "thread_id": "Thread-1",
        "execution_time": 2.5,
        "message": "Wrong: jdbc:x?password=hunter22\nmore",
        "adapter_response": {"rows_affected": 7},
        "timing": [{"started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:00:02Z"}],
    }
    written = {
        "metadata": {"generated_at": "2026-01-01T00:00:03Z", "invocation_id": "x"},
        "args": {"which": "run"},
        "elapsed_time": 3,
        "results": [result],
    }
    (tmp_path / "run_results.json").write_text(json.dumps(written))
    (found,) = runs.read([tmp_path, tmp_path / "nothing.json"], {})
    assert (found.command, found.seconds, found.nodes[0].rows) == ("run", 3, 7)
    assert "hunter22" not in found.nodes[0].says
    written["args"] = {"which": "compile"}
    (tmp_path / "run_results.json").write_text(json.dumps(written))
    assert runs.read([tmp_path], {}) == ()


def test_page_escapes_text_and_loads_nothing_external() -> None:
    made = page.html(report(2, Table("model.shop.x", "shop.<b>x", "table", problem="<script>alert(1)</script>")))
    assert "<script>alert" not in made
    assert "shop.<b>" not in made
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:,)[^"']*""", made)
    assert "http://" not in made.replace("http://www.w3.org/2000/svg", "")


def test_page_of_nothing() -> None:
    made = page.html(report(0))
    assert "Nothing to fix" in made
    assert "No table of this project is built yet" in made


def test_json() -> None:
    found = json.loads(page.as_json(report(2)))
    assert [each["rows"] for each in found["tables"]] == [361_800, 723_600]


def test_without_pygal(monkeypatch: pytest.MonkeyPatch) -> None:
    importing = builtins.__import__

    def refused(name: str, *arguments: object, **more: object) -> object:
        if name == "pygal":
            raise ImportError(name)
        return importing(name, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refused)
    with pytest.raises(DbtRuntimeError, match=r"pip install 'dbt-paimon\[report\]'"):
        charts.pygal()


def test_the_summary_counts_the_failed_nodes_of_the_last_run(tmp_path: Path) -> None:
    made = report(2)
    (run,) = made.runs
    failed = replace(run, nodes=(replace(run.nodes[0], status="error"), *run.nodes[1:]))
    assert "2 tables, 0 to fix;" in page.write(made, tmp_path / "report.html")
    assert "1 node failed in the last run;" in page.write(replace(made, runs=(run, failed)), tmp_path / "report.html")

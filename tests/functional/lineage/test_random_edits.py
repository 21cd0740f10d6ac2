"""After random edits of random projects, `build --affected` produces the same tables as a full build.

LINEAGE_EDITS=300 LINEAGE_SEED=7 pytest tests/functional/lineage/test_random_edits.py
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt

from dbt_paimon.cli import main
from dbt_paimon.lineage import affected as affecting
from dbt_paimon.lineage import changes, queries
from dbt_paimon.lineage.project import Project
from functional.lineage import random_projects

EDITS = int(os.environ.get("LINEAGE_EDITS", "15"))
SEED = int(os.environ.get("LINEAGE_SEED", "1"))
SIZE = 3


@pytest.mark.full
class TestRandomEdits:
    @pytest.fixture(scope="class")
    def drawn(self) -> list[tuple[random_projects.Project, random_projects.Project]]:
        made = []
        for number in range(EDITS):
            random = Random(f"{SEED} {number}")
            before = random_projects.project(random, f"p{number}", SIZE)
            made.append((before, random_projects.edited(random, before)))
        return made

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        # With this rule, Spark 3.5 fails ("key not found") on some unions of views that have scalar subqueries.
        rule = "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughUnion"
        config = {**dbt_profile_target["spark_config"], "spark.sql.optimizer.excludedRules": rule}
        return {**dbt_profile_target, "spark_config": config}

    @pytest.fixture(scope="class")
    def outcome(self, project: Any, drawn: Any, rows: Any) -> dict[str, Any]:
        """The tables before the edits, after `build --affected`, and after a full build that follows.

        The full build would repair whatever `build --affected` missed: tables to rebuild, and rows that a snapshot or
        an incremental model lacks.
        """
        root = Path(project.project_root)
        names = [[model for pair in drawn for model in pair[at].models] for at in range(2)]
        write(root, [before for before, _ in drawn])
        run_dbt(["build"])
        run_dbt(["compile"])
        (root / "state").mkdir()
        shutil.copy(root / "target/manifest.json", root / "state")
        start = tables(rows, project.test_schema, names[0])
        write(root, [after for _, after in drawn])
        places = ["--project-dir", str(root), "--profiles-dir", str(project.profiles_dir)]
        done = CliRunner().invoke(main, ["build", "--affected", "--state", str(root / "state"), *places])
        assert done.exit_code == 0, done.output[-3000:]
        results = json.loads((root / "target/run_results.json").read_text())["results"]
        affected = tables(rows, project.test_schema, names[1])
        run_dbt(["build"])
        return {
            "start": start,
            "affected": affected,
            "whole": tables(rows, project.test_schema, names[1]),
            "before": json.loads((root / "state/manifest.json").read_text()),
            "after": json.loads((root / "target/manifest.json").read_text()),
            "built": {result["unique_id"].rpartition(".")[2] for result in results},
        }

    def test_both_builds_produce_the_same_tables(self, outcome: Any, drawn: Any) -> None:
        differing = [name for name in outcome["whole"] if outcome["whole"][name] != outcome["affected"][name]]
        edits = {name: drawn[int(name[1:].partition("_")[0])][1].edit for name in differing}
        assert edits == {}

    def test_every_changed_table_is_built(self, outcome: Any, drawn: Any) -> None:
        changed = changed_tables(outcome)
        assert changed - outcome["built"] == set()
        modified = {name for name in outcome["whole"] if name in text_changed(outcome)}
        figures = Counter(
            edited=len(modified), nodes=len(outcome["whole"]), built=len(outcome["built"]), changed=len(changed)
        )
        print(
            dict(figures), Counter(edit.partition(" of ")[0] for _, after in drawn for edit in after.edit.split("; "))
        )
        # Some nodes are built, but not all.
        assert 0 < len(outcome["built"]) < len(outcome["whole"])

    @pytest.mark.skipif(SEED != 1, reason="with other seeds, the edits may not reach the planted faults")
    @pytest.mark.parametrize("fault", ["rows", "expressions", "propagation"])
    def test_a_planted_fault_is_found(self, outcome: Any, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
        FAULTS[fault](monkeypatch)
        before, after = Project(outcome["before"]), Project(outcome["after"])
        listed = {after.nodes[name]["name"] for name in affecting.affected(before, after)}
        assert changed_tables(outcome) - listed != set()


def write(root: Path, projects: list[random_projects.Project]) -> None:
    """Write the models of all projects, and a macro `scaled<number>` for each project."""
    shutil.rmtree(root / "models", ignore_errors=True)
    for number, each in enumerate(projects):
        for name, text in each.files(f"p{number}").items():
            path = root / "models" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("scaled(", f"scaled{number}("))
        macro = random_projects.MACRO.replace("scaled(", f"scaled{number}(").replace("SCALE", str(each.scale))
        (root / "macros").mkdir(exist_ok=True)
        (root / "macros" / f"scaled{number}.sql").write_text(macro)


def tables(rows: Any, schema: str, models: list[random_projects.Model]) -> dict[str, list[str]]:
    """The sorted rows of each table and view, as JSON objects that show the order of the columns."""
    found: dict[str, list[str]] = {model.name: [] for model in models}
    for at in range(0, len(models), 20):
        parts = []
        for model in models[at : at + 20]:
            table = f"{'spark_catalog' if model.kind == 'view' else 'paimon'}.{schema}.{model.name}"
            # dbt's other columns in snapshots contain times, or hashes of times.
            kept = f"{', '.join(model.columns)}, dbt_valid_to is null as is_valid" if model.snapshot else "*"
            parts.append(
                f"select '{model.name}', to_json(struct({kept}), map('ignoreNullFields', 'false')) from {table}"
            )
        for name, row in rows(" union all ".join(parts)):
            found[name].append(row)
    return {name: sorted(read) for name, read in found.items()}


def text_changed(outcome: Any) -> set[str]:
    """The nodes whose compiled code or materialization has changed."""
    before, after = (
        {
            node["name"]: (node.get("compiled_code"), node["config"]["materialized"])
            for node in outcome[side]["nodes"].values()
        }
        for side in ("before", "after")
    )
    return {name for name in after if before.get(name) != after[name]}


def changed_tables(outcome: Any) -> set[str]:
    """The tables whose rows or columns the edits have changed."""
    return {name for name in outcome["whole"] if outcome["whole"][name] != outcome["start"].get(name)}


# -- planted faults --------------------------------------------------------------------------------------------------


def _no_row_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loses the row edges of queries: filters and joins on a changed column do not affect the model."""
    read = queries.read
    monkeypatch.setattr(queries, "read", lambda *given: replace(read(*given), rows=frozenset()))


def _drop_first_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loses the first of a change's columns, in alphabetical order. The other columns are followed."""
    compared = changes.compared

    def without_first(*given: Any) -> Any:
        change = compared(*given)
        return replace(change, columns=frozenset(sorted(change.columns)[1:]))

    monkeypatch.setattr(changes, "compared", without_first)


def _no_changed_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Does not pass on the changed rows of a node to its readers."""
    own = changes.own
    monkeypatch.setattr(changes, "own", lambda *given: replace(own(*given), rows=False))


FAULTS = {
    "rows": _no_row_edges,
    "expressions": _drop_first_column,
    "propagation": _no_changed_rows,
}

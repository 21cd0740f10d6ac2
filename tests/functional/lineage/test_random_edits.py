"""Random edits of random projects, built whole and built by `build --affected` from the same start: equal tables.

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
SIZE = 5


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
    def profiles_config_update(self, dbt_profile_target: dict[str, Any], unique_schema: str) -> dict[str, Any]:
        """A schema that is built whole, and one that is built by --affected."""
        outputs = {
            name: {**dbt_profile_target, "schema": f"{unique_schema}{suffix}", "threads": 4}
            for name, suffix in (("default", ""), ("affected", "_affected"))
        }
        return {"test": {"outputs": outputs, "target": "default"}}

    @pytest.fixture(scope="class")
    def outcome(self, project: Any, drawn: Any, rows: Any) -> dict[str, Any]:
        """The tables at the start, built whole, and built by --affected; both manifests; the nodes that were built."""
        root = Path(project.project_root)
        schema = project.test_schema
        try:
            write(root, [before for before, _ in drawn])
            run_dbt(["build"])
            run_dbt(["build", "--target", "affected"])
            run_dbt(["compile", "--target", "affected"])
            state = root / "state"
            state.mkdir()
            shutil.copy(root / "target/manifest.json", state)
            start = tables(rows, schema, drawn, 0)
            write(root, [after for _, after in drawn])
            arguments = ["--target", "affected", "--state", str(state)]
            places = ["--project-dir", str(root), "--profiles-dir", str(project.profiles_dir)]
            done = CliRunner().invoke(main, ["build", "--affected", *arguments, *places])
            assert done.exit_code == 0, done.output[-3000:]
            after = json.loads((root / "target/manifest.json").read_text())
            built = {
                result["unique_id"]: result["status"]
                for result in json.loads((root / "target/run_results.json").read_text())["results"]
            }
            run_dbt(["build"])
            return {
                "start": start,
                "whole": tables(rows, schema, drawn, 1),
                "affected": tables(rows, f"{schema}_affected", drawn, 1),
                "before": json.loads((state / "manifest.json").read_text()),
                "after": after,
                "compiled": json.loads((root / "target/manifest.json").read_text()),
                "built": {name.rpartition(".")[2] for name in built},
            }
        finally:
            rows(f"drop database if exists paimon.{schema}_affected cascade")

    def test_both_builds_give_the_same_tables(self, outcome: Any, drawn: Any) -> None:
        differing = [name for name in outcome["whole"] if outcome["whole"][name] != outcome["affected"][name]]
        edits = {name: drawn[int(name[1:].partition("_")[0])][1].edit for name in differing}
        assert edits == {}

    def test_nothing_that_differs_is_left_out(self, outcome: Any, drawn: Any) -> None:
        changed = changed_tables(outcome)
        assert changed - outcome["built"] == set()
        figures = Counter(nodes=len(outcome["whole"]), built=len(outcome["built"]), changed=len(changed))
        print(
            dict(figures), Counter(edit.partition(" of ")[0] for _, after in drawn for edit in after.edit.split("; "))
        )
        # The list is shorter than everything, and not empty.
        assert 0 < len(outcome["built"]) < len(outcome["whole"])

    @pytest.mark.parametrize("fault", ["rows", "windows", "joins", "expressions", "propagation"])
    def test_a_planted_fault_is_found(self, outcome: Any, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
        FAULTS[fault](monkeypatch)
        before, after = Project(outcome["before"]), Project(outcome["compiled"])
        listed = {after.nodes[name]["name"] for name in affecting.affected(before, after)}
        assert changed_tables(outcome) - listed != set()


def write(root: Path, projects: list[random_projects.Project]) -> None:
    """Write the models of all projects; each has its own macro `scaled`."""
    shutil.rmtree(root / "models", ignore_errors=True)
    for number, each in enumerate(projects):
        for name, text in each.files(f"p{number}").items():
            path = root / "models" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("scaled(", f"scaled{number}("))
        macro = random_projects.MACRO.replace("scaled(", f"scaled{number}(").replace("SCALE", str(each.scale))
        (root / "macros").mkdir(exist_ok=True)
        (root / "macros" / f"scaled{number}.sql").write_text(macro)


def tables(rows: Any, schema: str, drawn: Any, at: int) -> dict[str, tuple[list[str], list[Any]]]:
    """The columns and sorted rows of each table and view of a schema."""
    found = {}
    for pair in drawn:
        for model in pair[at].models:
            catalog = "spark_catalog" if model.kind == "view" else "paimon"
            table = f"{catalog}.{schema}.{model.name}"
            columns = [row[0] for row in rows(f"describe {table}") if row[0] and not row[0].startswith("#")]
            # dbt's columns have times, and hashes of times.
            columns = list(dict.fromkeys(name for name in columns if not name.startswith("dbt_")))
            more = ", dbt_valid_to is null" if model.snapshot else ""
            read = rows(f"select {', '.join(columns)}{more} from {table}")
            found[model.name] = (columns, sorted(read, key=repr))
    return found


def changed_tables(outcome: Any) -> set[str]:
    """The tables that the edits change."""
    return {name for name in outcome["whole"] if outcome["whole"][name] != outcome["start"].get(name)}


# -- planted faults --------------------------------------------------------------------------------------------------


def _no_row_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter or a join by a changed column changes no rows."""
    read = queries.read
    monkeypatch.setattr(queries, "read", lambda *given: replace(read(*given), rows=frozenset()))


def _no_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns that a window or a subquery reads are left out."""
    monkeypatch.setattr(queries.Output, "reads", property(lambda output: output.values))


def _no_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kind of join is not seen."""
    monkeypatch.setattr(queries._Reader, "_join", lambda *given: None)


def _first_column_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a change, only one column is followed."""
    compared = changes.compared

    def one(*given: Any) -> Any:
        change = compared(*given)
        return replace(change, columns=frozenset(sorted(change.columns)[1:]))

    monkeypatch.setattr(changes, "compared", one)


def _no_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node's other rows are not followed to its readers."""
    own = changes.own
    monkeypatch.setattr(changes, "own", lambda *given: replace(own(*given), rows=False))


FAULTS = {
    "rows": _no_row_edges,
    "windows": _no_windows,
    "joins": _no_joins,
    "expressions": _first_column_only,
    "propagation": _no_other_rows,
}

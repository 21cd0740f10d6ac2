"""Refusals of the lineage commands, and which command lines dbt-paimon handles itself instead of dbt."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_paimon import cli as own
from dbt_paimon import entry
from dbt_paimon.cli import main
from dbt_paimon.lineage import command
from unit.lineage.manifests import node, project


def test_seeds_of_an_earlier_manifest_are_read_here() -> None:
    here = project(node("raw", kind="seed", resource="seed", root_path="/here"))
    before = {"nodes": {"seed.p.raw": node("raw", kind="seed", resource="seed", root_path="/app")}}
    assert command._with_files_of(here, before)["nodes"]["seed.p.raw"]["root_path"] == "/here"


@pytest.mark.parametrize("words", [[], ["orders", "--state", "x"], ["--select", "orders", "--state", "x"]])
def test_diff_of_what_is_affected_takes_a_state_and_no_selection(words: list[str]) -> None:
    done = CliRunner().invoke(main, ["diff", "--affected", *words])
    assert done.exit_code == 1
    assert "Give it --state PATH and no other selection" in done.output


@pytest.mark.parametrize("word", ["--select", "-s", "--selector", "--selector=nightly", "--model", "-sorders"])
def test_a_selection_with_affected_is_refused(word: str) -> None:
    done = CliRunner().invoke(main, ["build", "--affected", "--state", ".", word, "orders"])
    assert done.exit_code == 1
    option = word.removesuffix("orders").partition("=")[0]
    assert f"{option} and --affected both select nodes. Leave one out" in done.output


def test_what_is_affected_has_no_plan_whose_losses_could_count() -> None:
    done = CliRunner().invoke(main, ["plan", "--state", ".", "--fail-on-loss"])
    assert done.exit_code == 1
    assert "Add a selection: --select state:modified+" in done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "manifest.json cannot be read"),
        ("{", "manifest.json cannot be read"),
        (json.dumps({"nodes": {"model.p.m": {"raw_code": "select 1"}}}), "has no compiled code"),
    ],
)
def test_a_state_that_cannot_be_compared_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    if text:
        (tmp_path / "manifest.json").write_text(text)
    done = CliRunner().invoke(main, ["build", "--affected", "--state", str(tmp_path)])
    assert done.exit_code == 1
    assert message in done.output and "dbt compile" in done.output


def test_a_node_is_selected_exactly() -> None:
    assert command._selector(node("m")) == "fqn:[p].m,resource_type:model"


@pytest.mark.parametrize(
    ("words", "whose"),
    [(["build"], "dbt"), (["build", "--affected", "--state", "x"], "own"), (["plan", "--state", "x"], "own")],
)
def test_build_without_affected_is_dbts(words: list[str], whose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(sys, "argv", ["dbt-paimon", *words])
    monkeypatch.setattr(entry.client, "send", lambda _: None)
    monkeypatch.setattr("dbt.cli.main.cli", lambda: called.append("dbt"))
    monkeypatch.setattr(own, "main", lambda: called.append("own"))
    entry.main()
    assert called == [whose]

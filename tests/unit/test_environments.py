"""Environments: names, the journal, which nodes are built, and which commits count as a change of production."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from dbt.graph.selector_methods import is_selected_node
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.profile import load_credentials
from dbt.adapters.paimon.spec.table import TableSpec
from dbt_paimon.env import journal, modified
from dbt_paimon.env.journal import Base, Journal, Node, State
from dbt_paimon.env.project import Project as EnvironmentProject
from dbt_paimon.env.project import schema_suffix
from dbt_paimon.lineage import changes, macros
from dbt_paimon.lineage.project import Project
from unit.lineage.manifests import node, project

NODE = Node(
    "model.shop.days",
    "shop.days",
    ("paimon", "shop__pr_7", "days"),
    ("paimon", "shop", "days"),
    "table",
    "5f",
    Base("table", 3, 30.0),
)
JOURNAL = Journal("pr_7", "ab12", State.BUILT, ("paimon", "shop__pr_7", ""), (("paimon", "shop__pr_7", ""),), (NODE,))


def commit(snapshot: int, kind: str = "OVERWRITE", user: str = "dbt_1", at: float | None = None) -> Commit:
    return Commit(snapshot, kind, user, 1, 1, 0, 0, snapshot * 10.0 if at is None else at, 0.0)


NAMES = {"name": "m", "database": "paimon", "schema": "shop", "alias": "m"}
OURS = commit(4, user="dbtp-ab12_77_uuid")


@pytest.mark.parametrize(("given", "name"), [("pr-123", "pr_123"), ("PR_7", "pr_7"), ("7", "7")])
def test_schema_suffix(given: str, name: str) -> None:
    assert schema_suffix(given) == name


@pytest.mark.parametrize(
    ("names", "catalog"),
    [
        ({"schema": "shop"}, "paimon"),
        ({"database": "shop"}, "paimon"),
        ({"database": "lake", "schema": "shop"}, "lake"),
        ({"catalog": "lake", "schema": "shop"}, "lake"),
        ({"catalog": "lake", "database": "shop"}, "lake"),
        ({"catalog": "lake", "database": "{{ 'shop' }}"}, "lake"),
    ],
)
def test_an_environment_has_the_catalog_of_production(tmp_path: Path, names: dict[str, str], catalog: str) -> None:
    output = {"type": "paimon", "method": "session", "warehouse": "/lake", **names}
    profile = {"shop": {"target": "prod", "outputs": {"prod": output}}}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "shop", "profile": "shop"}))
    target = {"project_dir": str(tmp_path), "profiles_dir": str(tmp_path), "profile": None, "target": None}
    with EnvironmentProject(target, "pr_7").in_environment() as arguments:
        folder = arguments[arguments.index("--profiles-dir") + 1]
        found = load_credentials(str(tmp_path), folder)
    assert (found.database, found.schema) == (catalog, "shop__pr_7")


@pytest.mark.parametrize("given", ["", "a/b", "_x", "a.b", "é", "a" * 64])
def test_invalid_names_are_refused(given: str) -> None:
    with pytest.raises(DbtRuntimeError, match="cannot be part of a schema's name"):
        schema_suffix(given)


def test_journal_survives_json() -> None:
    kept = replace(JOURNAL, state=State.PROMOTING, done=("model.shop.days",))
    assert Journal.from_dict(json.loads(json.dumps(kept.to_dict()))) == kept


@pytest.mark.parametrize(
    ("fqn", "selected"),
    [(["shop", "days"], True), (["shop", "days", "days_then"], False), (["other", "shop", "days"], False)],
)
def test_a_selector_selects_one_node(fqn: list[str], selected: bool) -> None:
    method, _, resource = NODE.selector.partition(",")
    assert resource == "resource_type:model"
    assert is_selected_node(fqn, method.removeprefix("fqn:"), False) is selected


def test_a_selector_with_a_blank() -> None:
    (found,) = replace(NODE, fqn="shop.Data Marts.days").selector.split(" ")
    assert is_selected_node(["shop", "Data Marts", "days"], found.partition(",")[0].removeprefix("fqn:"), False)


@pytest.mark.parametrize(
    ("commits", "change"),
    [
        ([commit(3)], ""),
        ([commit(3), commit(4, "COMPACT")], ""),
        ([commit(4, "COMPACT")], ""),
        ([commit(5, "COMPACT")], "its table snapshots after 3 have expired, so it may have been written again"),
        ([commit(3), commit(4, "ANALYZE")], ""),
        ([commit(3), OURS], ""),
        ([commit(3), OURS, commit(5, "APPEND")], ""),
        ([commit(3), commit(4, "APPEND"), commit(5, "COMPACT")], "it was written again (table snapshot 4)"),
        ([commit(1), commit(2)], "it was dropped and built again, or rolled back"),
        ([commit(1), commit(2), commit(3, at=99)], "it was dropped and built again, or rolled back"),
        ([], "it was dropped and built again, or rolled back"),
    ],
)
def test_changes_of_production(monkeypatch: pytest.MonkeyPatch, commits: list[Commit], change: str) -> None:
    monkeypatch.setattr(journal, "commits_of", lambda adapter, node: tuple(commits))
    adapter: Any = SimpleNamespace(get_relation=lambda *place: SimpleNamespace(is_table=True))
    assert journal.change_of(adapter, JOURNAL, NODE) == change


def test_a_table_that_became_a_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "commits_of", lambda adapter, node: ())
    adapter: Any = SimpleNamespace(get_relation=lambda *place: SimpleNamespace(is_table=False))
    assert journal.change_of(adapter, JOURNAL, NODE) == "it was a table, and is now a view"
    assert not journal.change_of(adapter, JOURNAL, replace(NODE, materialized="view"))


@pytest.mark.parametrize(
    ("commits", "superseded"),
    [
        ([commit(3)], False),
        ([commit(3), OURS], False),
        ([commit(3), OURS, commit(5, "COMPACT")], False),
        ([commit(3), OURS, commit(5)], True),
        ([commit(3), OURS, commit(5), replace(OURS, snapshot=6)], False),
    ],
)
def test_a_later_write_supersedes_the_promotion(commits: list[Commit], superseded: bool) -> None:
    assert journal.is_superseded(JOURNAL, commits) is superseded


def model(materialized: str = "table", strategy: str | None = None) -> Any:
    config = SimpleNamespace(materialized=materialized, get={"incremental_strategy": strategy}.get)
    return SimpleNamespace(config=config, resource_type="model", alias="orders")


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (model(), ""),
        (model("view"), ""),
        (model("incremental", "merge"), ""),
        (model("snapshot"), "lack production's history"),
        (model("streaming"), "an empty checkpoint"),
        (model("materialized_view"), "view has already read"),
        (model("incremental", "apply_changes"), "a second table"),
        (model("incremental", "microbatch"), "several commits"),
    ],
)
def test_reason_not_built(node: Any, why: str) -> None:
    reason = modified.reason_not_built(node, [("m", "select 1")])
    assert (why in reason) if why else not reason


@pytest.mark.parametrize(
    ("kind", "hook", "texts", "writes"),
    [
        ("table", "insert into {{ this }} values (1)", {}, "insert into"),
        ("table", "insert overwrite table {{ this }} select 1", {}, "insert overwrite"),
        ("incremental", "{{ one(this) }}", {"one": "{{ two(t) }}", "two": "UPDATE {{ table }} set a = 1"}, "UPDATE"),
        ("table", "{{ one() }}", {"one": "{% do run_query('delete from ' ~ this) %}"}, "delete from"),
        ("table", "merge into shop.orders using s on true when matched then delete", {}, "merge into"),
        ("table", "insert into ops.log values ('{{ this }}', now())", {}, ""),
        ("table", "insert into {{ ref('log') }} select count(*) from {{ this }}", {}, ""),
        ("table", "insert into {{ target.schema }}.log select count(*) from {{ this }}", {}, ""),
        ("table", "grant select, insert on {{ this }} to team", {}, ""),
        (
            "table",
            "-- update the comment\nalter table {{ this }} set tblproperties ('comment' = 'rows of each update')",
            {},
            "",
        ),
        ("table", "{{ delete_rows(this, 'id = 1') }}", {}, "delete_rows"),
        ("table", "{{ compact(this) }} {# insert #}", {"other": "insert into t values (1)"}, ""),
        ("table", "alter table {{ this }} set tblproperties ('merge-engine' = 'deduplicate')", {}, ""),
        ("table", "{{ create_tag(this, name='before_update.1') }}", {}, ""),
        ("view", "insert into log values (1)", {}, ""),
    ],
)
def test_tables_whose_hooks_write_rows_are_not_built(kind: str, hook: str, texts: dict[str, str], writes: str) -> None:
    given = model(kind)
    given.config.post_hook = [SimpleNamespace(sql=hook)]
    code = [("it", "select 'insert'"), *((f"its macro {name}", text) for name, text in texts.items())]
    reason = modified.reason_not_built(given, code)
    assert (f"write rows ({writes})" in reason) if writes else not reason


WAITING = {"deletion-vectors.enabled": "true", "write-only": "true"}


def stored(options: dict[str, str]) -> Any:
    """An adapter whose production has a table with these options."""
    spec = TableSpec(("id",), (), options)
    return SimpleNamespace(
        versions=Versions.of("1.4.2"),
        get_relation=lambda *place: SimpleNamespace(is_table=True),
        tables=SimpleNamespace(existing=lambda table: SimpleNamespace(as_spec=lambda: spec)),
    )


@pytest.mark.parametrize(
    ("kind", "config", "options", "option"),
    [
        ("table", {"tblproperties": WAITING}, {}, "'write-only'='true'"),
        (
            "table",
            {"merge_engine": "first-row", "tblproperties": {"lookup-wait": "false"}},
            {},
            "'lookup-wait'='false'",
        ),
        ("incremental", {"bucket": -2}, {}, "bucket=-2"),
        ("table", {"bucket": -2}, {}, ""),
        ("table", {"tblproperties": {"deletion-vectors.enabled": "true"}}, WAITING, "'write-only'='true'"),
        ("table", {"tblproperties": {"deletion-vectors.enabled": "true"}}, {}, ""),
        ("incremental", {}, WAITING, "'write-only'='true'"),
        ("incremental", {}, {"bucket": "4"}, ""),
        ("view", {"tblproperties": WAITING}, WAITING, ""),
    ],
)
def test_tables_whose_rows_wait_for_a_compaction_are_not_built(
    kind: str, config: dict[str, Any], options: dict[str, str], option: str
) -> None:
    found: Any = SimpleNamespace(
        **NAMES,
        config=SimpleNamespace(materialized=kind),
        to_dict=lambda **_: {"name": "m", "config": {"primary_key": "id", **config}},
    )
    assert option in modified.hidden_rows(stored(options), found)
    assert bool(modified.hidden_rows(stored(options), found)) is bool(option)


def fresh(raw_code: str, config: dict[str, Any] | None = None, **texts: str) -> Project:
    """The code of one model and its macros."""
    return project(node("m", raw_code=raw_code, config=config or {}), macros=texts)


@pytest.mark.parametrize(
    ("found", "reads"),
    [
        (fresh("select * from {{ paimon_changes(ref('a')) }}"), True),
        (fresh("select * from {{ one(ref('a')) }}", one="{{ two(x) }}", two="{{ paimon_changes(x) }}"), True),
        (fresh("{% if is_incremental() %} {{ one(ref('a')) }} {% endif %}", one="{{ paimon_changes(x) }}"), True),
        (fresh("select 1 {# paimon_changes #}", one="{{ paimon_changes(x) }}"), False),
    ],
)
def test_models_that_read_changes_are_not_built(found: Project, reads: bool) -> None:
    reason = modified.reason_not_built(model("incremental"), macros.code(found, "model.p.m"))
    assert ("since the model's last run" in reason) is reads


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (fresh("select {{ one() }}", one="1"), True),
        (fresh("select {{ one() }}", one="2"), False),
        (fresh("select {{ one() }} + 1", one="1"), False),
        (fresh("select {{ one() }}", {"primary_key": "id"}, one="1"), False),
        (fresh("select {{ one() }}", {"tags": ["nightly"]}, one="1"), True),
    ],
)
def test_which_code_is_promoted(other: Project, is_same: bool) -> None:
    one = fresh("select {{ one() }}", one="1")
    assert (changes.fingerprint(one, "model.p.m") == changes.fingerprint(other, "model.p.m")) is is_same


def test_a_fixed_schema_is_refused() -> None:
    here = {"model.shop.a": ("paimon", "shop__pr_7", "a"), "model.shop.b": ("paimon", "marts", "b")}
    production = {"model.shop.a": ("paimon", "shop", "a"), "model.shop.b": ("paimon", "marts", "b")}
    modified.refuse_same_relation(here, production, ["model.shop.a"])
    with pytest.raises(
        DbtRuntimeError, match=r"model\.shop\.b would be built as paimon\.marts\.b, which is production's"
    ):
        modified.refuse_same_relation(here, production, ["model.shop.a", "model.shop.b"])

"""When the positions of a materialized view over a server are valid: which session and which table they belong to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.paimon.changes.api import Changes
from dbt.adapters.paimon.changes.positions import Position, SavedPosition, marked, positions_of, short_hash
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views import analyzer
from dbt.adapters.paimon.plan.materialized_views.api import MaterializedViews
from dbt.adapters.paimon.plan.materialized_views.query import SourceColumns
from dbt.adapters.paimon.plan.materialized_views.refresh import Mode, Refresh, RefreshKind, View
from dbt.adapters.paimon.plan.steps import NodeRun
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable

UUID = "_9c2c2bf1-70ae-4fe5-926b-000000000000"
MODEL = {"unique_id": "model.p.v", "name": "v"}
ORDERS, OWN = (PaimonRelation.create(database="lake", schema="s", identifier=name, type="table") for name in "ov")
COLUMNS = SourceColumns(TableName("lake", "s", "o"), {"id": "int"}, ("id",))
EXISTING = ExistingTable(("id",), columns=(ExistingColumn("id", "int", nullable=False),), schema_id=0)
BEFORE = [["spark.sql.session.timeZone", "UTC"], ["spark.sql.catalog.lake", "org.apache.paimon.spark.SparkCatalog"]]


class Server:
    """A view of one table, on a server with these settings, commits of the view's table and saved positions."""

    def __init__(self) -> None:
        self.settings = BEFORE
        self.own: tuple[Commit, ...] = ()
        self.saved: dict[str, SavedPosition] = {}
        self.adapter: Any = SimpleNamespace(
            handle=SimpleNamespace(embedded=lambda: None),
            versions=SimpleNamespace(paimon="1.0.1", spark="3.5.7"),
            get_relation=lambda _, __, name: {"o": ORDERS, "v": OWN}.get(name),
            query=lambda sql: {"set": self.settings}[sql],
        )
        tables: Any = SimpleNamespace(existing=lambda _: EXISTING)
        self.changes = Changes(self.adapter, tables, *[None] * 2)  # type: ignore[arg-type]
        self.changes._commits = self.commits  # type: ignore[method-assign]
        self.changes._saved_positions = lambda _: self.saved  # type: ignore[method-assign]
        self.views = MaterializedViews(self.adapter, tables, self.changes)

    def commits(self, relation: PaimonRelation) -> tuple[Commit, ...]:
        return self.own if relation == OWN else (Commit(1, "APPEND", "someone", 3, 3, 0),)

    def refresh(self) -> Refresh:
        sql = "select id from lake.s.o"
        view = View(sql, Mode.AUTO, analyzer.analyze(sql, lambda _: COLUMNS), key=("id",))
        self.views._views[MODEL["unique_id"]] = view
        run = NodeRun(OWN, TableSpec(), OWN, full_refresh=False, adds=False)
        return self.views.refresh(MODEL, run, positions_of(OWN))

    def mark(self) -> str:
        """The commit user of a refresh that writes rows now."""
        self.refresh()
        return self.changes.mark(MODEL) + UUID


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        pytest.param(BEFORE, RefreshKind.NONE, id="the same"),
        pytest.param([*BEFORE, ["spark.sql.catalog.lake.uri", "x"]], RefreshKind.NONE, id="of a catalog"),
        pytest.param([["spark.sql.session.timeZone", "Asia/Tokyo"]], RefreshKind.FULL, id="another time zone"),
        pytest.param([*BEFORE, ["spark.sql.ansi.enabled", "true"]], RefreshKind.FULL, id="one more"),
        pytest.param([["spark.sql.session.timeZone=Asia/Tokyo"]], RefreshKind.FULL, id="a server like Hive's"),
    ],
)
def test_other_settings_of_the_session_are_a_full_refresh(settings: list[list[str]], kind: RefreshKind) -> None:
    server = Server()
    server.own = (Commit(1, "APPEND", server.mark(), 3, 3),)
    server.settings = settings
    refresh = server.refresh()
    assert refresh.kind is kind
    assert ("Spark's settings have changed" in refresh.words) == (kind is RefreshKind.FULL)


def test_a_saved_position_of_a_table_snapshot_that_was_rolled_back_is_ignored() -> None:
    server = Server()
    refreshed, gone = Commit(1, "APPEND", server.mark(), 3), Commit(2, "APPEND", f"a{UUID}", 3)
    (key,) = marked(refreshed.user)
    server.saved = {key: SavedPosition(Position(1, short_hash("someone")), Position.at(gone))}
    server.own = (refreshed, gone)
    assert server.refresh().kind is RefreshKind.NONE
    server.own = (refreshed, Commit(2, "APPEND", f"b{UUID}", 3))
    refresh = server.refresh()
    assert refresh.kind is RefreshKind.FULL
    assert "something other than its refresh wrote its table at snapshot 2" in refresh.words


def test_a_write_that_has_expired_before_a_compaction_is_noticed() -> None:
    server = Server()
    refreshed, compacted = Commit(3, "APPEND", server.mark(), 3, 3), Commit(5, "COMPACT", f"a{UUID}", 3)
    (key,) = marked(refreshed.user)
    server.saved = {key: SavedPosition(Position(1, short_hash("someone")), Position.at(refreshed))}
    server.own = (compacted,)
    refresh = server.refresh()
    assert refresh.kind is RefreshKind.FULL
    assert refresh.words == "the changes of s.v are lost: its last write has expired"
    # Nothing is between the refresh and this compaction.
    server.own = (Commit(4, "COMPACT", f"a{UUID}", 3), compacted)
    assert server.refresh().kind is RefreshKind.NONE

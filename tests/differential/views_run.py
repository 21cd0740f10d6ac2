"""Runs plans of materialized views, and checks after each refresh that each view has its query's rows."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, Final

from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark import session
from dbt.adapters.paimon.spark.runtime import Runtime
from differential import views_plan, views_sources
from differential.views_plan import Change, Plan, View
from differential.views_queries import Queries

# Views per project, each with its own query. One view in all steps counts as one sequence.
VIEWS: Final = 8
STEPS: Final = 4
# Messages that refuse a config. Configs are drawn without checking whether the query allows them.
_REFUSALS: Final = ("refresh_mode='incremental'", "needs bucket_key")
# Changes that may happen while views are refreshed.
_DURING: Final = ("insert", "update", "delete", "replace", "merge", "delete and insert", "overwrite")
# How every run refreshes some views, even without changes: their rows depend on the order in Spark's plan.
_EACH_TIME: Final = ("full: a window function", "full: a LIMIT")


def drawn(seed: int, number: int) -> Plan:
    """The plan with this number; the same seed always gives the same plan."""
    chance = Random(f"{seed} views {number}")
    sources = views_sources.sources(chance)
    views = Queries(chance, sources).views(VIEWS)
    first = tuple(
        Change("insert", source.name, (views_sources.insert(chance, source, chance.choice((2, 6, 9, 9))),))
        for source in sources
        if chance.random() < 0.95
    )
    changes, own = views_sources.Changes(chance), [view for view in views if view.config is not None]
    steps = []
    for _ in range(STEPS):
        count = chance.choice((0, 1, 1, 2, 2, 3, 4))
        # The two facts and the dimension that most views join are changed more often.
        step = [changes.change(chance.choice((*sources, *sources[:3]))) for _ in range(count)]
        if chance.random() < 0.25:
            step.append(views_sources.own_change(chance, chance.choice(own)))
        if chance.random() < 0.2:
            step = [
                replace(each, during=round(chance.uniform(0.5, 2.5), 1)) if each.what in _DURING else each
                for each in step
            ]
        steps.append(tuple(step))
    return Plan(number, sources, views, (first, *steps))


@dataclass(frozen=True)
class Difference:
    """A view that differs from its query, or is refreshed without need."""

    plan: Plan
    view: str
    step: int
    text: str
    log: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The part of the text that stays the same while a plan shrinks."""
        return self.text.split(":")[0]

    def __str__(self) -> str:
        view = self.plan.view(self.view)
        assert view is not None
        tables = "\n".join(f"  {each.create}" for each in self.plan.sources if each.name in _all_names(self.plan, view))
        others = "\n".join(
            f"  {each.name} {each.config}: {each.sql}"
            for each in self.plan.views
            if each.name in _all_names(self.plan, view) and each is not view
        )
        log = "\n".join(f"  {line}" for line in self.log)
        return (
            f"plan {self.plan.number}, {self.view}, step {self.step}: {self.text}\n  config {view.config}\n  {view.sql}\n"
            f"{others}\n{tables}\n{log}"
        )


def _all_names(plan: Plan, view: View) -> set[str]:
    found = views_plan.names(view.sql)
    for name in list(found):
        other = plan.view(name)
        if other is not None:
            found |= _all_names(plan, other)
    return found


@dataclass
class Outcome:
    """What was compared, and what differs."""

    figures: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)


def run(root: Path, plan: Plan, target: dict[str, Any], *, first_only: bool = False) -> Outcome:
    """Run one plan.

    Args:
        root: an empty folder.
        plan: the plan.
        target: the profile's target, with a schema of its own.
        first_only: whether to stop at the first difference.
    """
    # One partition is enough for the few rows of a sequence.
    config = {"spark.sql.shuffle.partitions": 1, "spark.sql.adaptive.enabled": "false"}
    target = target | {"threads": 2, "spark_config": {**target["spark_config"], **config}}
    project = _Project(root, plan, target)
    for number, changes in enumerate(plan.steps):
        project.step(number, changes)
        if first_only and project.outcome.differences:
            break
    project.outcome.figures["sequences"] = len(plan.maintained)
    return project.outcome


def _counted(rows: Sequence[Any]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in rows)


class _Project:
    def __init__(self, root: Path, plan: Plan, target: dict[str, Any]) -> None:
        self._root, self._plan, self._schema = root, plan, str(target["schema"])
        self.outcome = Outcome()
        self._log: list[str] = []
        self._broken: set[str] = set()
        fields = {key: value for key, value in target.items() if key not in ("type", "threads")}
        self._session = session.open_session(Runtime(PaimonCredentials.from_dict(fields))).session
        self._sql(f"create schema if not exists paimon.{self._schema}")
        for source in plan.sources:
            self._sql(self._named(source.create))
        self._write(target)
        self._parse()

    def step(self, number: int, changes: Sequence[Change]) -> None:
        """Change the sources, refresh the views and compare them."""
        self._log.append(f"-- step {number}")
        whole = [change.table for change in changes if change.what == "full refresh"]
        for change in changes:
            if not change.during:
                self._change(change)
        views = self._left()
        words = self._build_during(number, whole, [change for change in changes if change.during])
        for view in views:
            if view.name in words:
                self._compare(number, view, words[view.name])
        self._check_none(number, [view for view in views if view.name in words])

    def _left(self) -> list[View]:
        """The views without a difference so far."""
        return [view for view in self._plan.maintained if view.name not in self._broken]

    def _build_during(self, number: int, whole: Sequence[str], changes: Sequence[Change]) -> dict[str, str]:
        """Refresh the views while the changes happen, and once more afterwards."""
        names = [view.name for view in self._plan.views if view.config is None] + [each.name for each in self._left()]
        if not changes:
            return self._build(number, names, whole)
        self._log.append("-- while dbt runs")

        def change() -> None:
            for each in changes:
                time.sleep(each.during)
                self._change(each)

        other = Thread(target=change)
        other.start()
        self._build(number, names, whole)
        other.join()
        return self._build(number, [name for name in names if name not in self._broken], ())

    # -- changes ----------------------------------------------------------------------------------------------------

    def _change(self, change: Change) -> None:
        if change.what == "full refresh":
            return
        if change.what == "roll back":
            self._roll_back(change)
            return
        for sql in change.sql:
            self._try(sql)

    def _try(self, sql: str) -> None:
        """Make a change; if Paimon refuses it, nothing changes."""
        self.outcome.figures["changes"] += 1
        try:
            self._sql(self._named(sql))
        except Exception as error:  # noqa: BLE001 - whatever Spark says
            self.outcome.figures["changes refused"] += 1
            self._log.append(f"{sql}  -- refused: {str(error).splitlines()[0][:150]}")
        else:
            self._log.append(sql)

    def _roll_back(self, change: Change) -> None:
        snapshots = f"paimon.{self._schema}.`{change.table}$snapshots`"
        try:
            found = self._sql(f"select snapshot_id, commit_kind from {snapshots} order by 1")
        except Exception:  # noqa: BLE001 - the table may be gone
            return
        # A rollback to before a compaction loses the files that the compaction replaced (Paimon 0.9.0).
        compacted = max((row[0] for row in found if row[1] == "COMPACT"), default=0)
        before = [row[0] for row in found[:-1] if row[0] >= compacted][-change.steps :]
        if before:
            self._try(f"call paimon.sys.rollback(table => '{{schema}}.{change.table}', version => '{before[0]}')")

    # -- comparing --------------------------------------------------------------------------------------------------

    def _compare(self, number: int, view: View, words: str) -> None:
        self.outcome.figures["refreshes compared"] += 1
        self.outcome.figures[words.partition(",")[0].partition(":")[0]] += 1
        try:
            query = self._session.sql(self._named(view.sql))
            wanted = _counted(query.collect())
            # Select by name, because columns that were added to the query later are the last ones of the table.
            table = self._session.table(f"paimon.{self._schema}.{view.name}")
            found = _counted(table.select(*(f"`{name}`" for name in query.columns)).collect())
            others = set(table.columns) - set(query.columns)
        except Exception as error:  # noqa: BLE001 - whatever Spark says
            if self._can_run(view):
                self._differs(number, view, f"cannot be read: {str(error)[:300]}")
            else:
                self.outcome.figures["queries that fail"] += 1
                self._broken.add(view.name)
            return
        if others:
            self._differs(number, view, f"columns differ: after [{words}] not expected {sorted(others)}")
        elif wanted != found:
            missing, extra = list((wanted - found).elements()), list((found - wanted).elements())
            self._differs(number, view, f"rows differ: after [{words}] missing {missing[:5]}, not expected {extra[:5]}")

    def _check_none(self, number: int, views: Sequence[View]) -> None:
        """Check that a second run finds nothing to do."""
        views = [view for view in views if view.name not in self._broken]
        words = self._build(number, [view.name for view in views], ())
        for view in views:
            if view.name in words and not words[view.name].startswith(("none", *_EACH_TIME)):
                self._differs(number, view, f"not none: a second run says [{words[view.name]}]")

    def _differs(self, number: int, view: View, text: str) -> None:
        self._broken.add(view.name)
        self.outcome.differences.append(Difference(self._plan, view.name, number, text, tuple(self._log)))

    def _sql(self, sql: str) -> list[Any]:
        return list(self._session.sql(sql.replace("{schema}", self._schema)).collect())

    def _named(self, sql: str) -> str:
        """A query with full table names; dbt views are replaced by their queries."""

        def name(read: str) -> str:
            view = self._plan.view(read)
            if view is not None and view.config is None:
                return f"({self._named(view.sql)})"
            return f"paimon.{self._schema}.{read}"

        return views_plan.with_names(sql, name)

    # -- dbt --------------------------------------------------------------------------------------------------------

    def _write(self, target: dict[str, Any], automatic: frozenset[str] = frozenset()) -> None:
        def name(read: str) -> str:
            return f"{{{{ ref('{read}') }}}}" if self._plan.view(read) else f"{{{{ source('raw', '{read}') }}}}"

        self._target = target
        sources = {
            "name": "raw",
            "schema": self._schema,
            "tables": [{"name": source.name} for source in self._plan.sources],
        }
        files = {
            "dbt_project.yml": json.dumps({"name": "views", "version": "1.0", "profile": "views", "flags": {"send_anonymous_usage_stats": False}}),
            "profiles.yml": json.dumps({"views": {"target": "t", "outputs": {"t": target}}}),
            "models/sources.yml": json.dumps({"version": 2, "sources": [sources]}),
        }  # fmt: skip
        for view in self._plan.views:
            config = {"materialized": "view"}
            if view.config is not None:
                config = {"materialized": "materialized_view", **view.config}
                if view.name in automatic:
                    config.pop("refresh_mode", None)
            given = ", ".join(f"{key}={value!r}" for key, value in config.items())
            files[f"models/{view.name}.sql"] = f"{{{{ config({given}) }}}}\n{views_plan.with_names(view.sql, name)}\n"
        for path, text in files.items():
            (self._root / path).parent.mkdir(parents=True, exist_ok=True)
            (self._root / path).write_text(text, encoding="utf-8")

    def _parse(self) -> None:
        done = self._invoke(None, "parse", "--no-partial-parse")
        if done.result is None:
            raise RuntimeError("dbt parse") from done.exception
        self._manifest = done.result

    def _build(self, number: int, names: Sequence[str], whole: Sequence[str]) -> dict[str, str]:
        """Refresh views; returns name -> how it was refreshed, from the adapter response."""
        words: dict[str, str] = {}
        refused: list[str] = []
        rebuilt, others = ([name for name in names if (name in whole) == is_whole] for is_whole in (True, False))
        # The others run again at the end, because they may read the rebuilt views.
        groups = [(others, ()), (rebuilt, ("--full-refresh",)), (others if rebuilt else [], ())]
        for some, flags in [group for group in groups if group[0]]:
            done = self._invoke(self._manifest.deepcopy(), "run", "--select", *some, *flags)
            if done.result is None:
                raise RuntimeError(f"dbt run {names}") from done.exception
            for result in done.result:
                view = self._plan.view(result.node.name)
                if view is None or view.config is None:
                    if str(result.status) not in ("success", "skipped"):
                        raise RuntimeError(f"{result.node.name}: {result.message}")
                elif str(result.status) == "success":
                    words[view.name] = result.adapter_response.get("refresh") or ""
                    self._log.append(f"-- {view.name}: {words[view.name]}")
                elif str(result.status) == "skipped":
                    continue
                elif any(words in (result.message or "") for words in _REFUSALS):
                    refused.append(view.name)
                    self.outcome.figures["refusals"] += 1
                elif self._can_run(view):
                    self._differs(number, view, f"an error: {(result.message or '')[:1200]}")
                else:
                    self.outcome.figures["queries that fail"] += 1
                    self._broken.add(view.name)
        if refused:
            # From here on, these views do not have the refused configs.
            self._plan = replace(
                self._plan,
                views=tuple(
                    replace(
                        view,
                        config={k: v for k, v in (view.config or {}).items() if k not in ("refresh_mode", "bucket")},
                    )
                    if view.name in refused
                    else view
                    for view in self._plan.views
                ),
            )
            self._write(self._target)
            self._parse()
            missing = [name for name in names if name not in words and name not in self._broken]
            words |= self._build(number, missing, ())
        return words

    def _can_run(self, view: View) -> bool:
        """Whether Spark can run a view's query: Paimon 0.9.0 fails on some contradictory filters."""
        try:
            self._sql(self._named(view.sql))
        except Exception:  # noqa: BLE001 - whatever Spark says
            return False
        return True

    def _invoke(self, manifest: Any, *args: str) -> Any:
        where = ("--project-dir", str(self._root), "--profiles-dir", str(self._root))
        quiet = ("--log-level", "none", "--log-level-file", "none", "--no-write-json", "--no-print")
        return dbtRunner(manifest).invoke([*quiet, *args, *where])

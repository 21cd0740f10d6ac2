"""`adapter.unchanged_tests`: leaves out a data test that has passed over the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.spark import responses
from dbt.adapters.paimon.spec import skipping
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.unchanged import nodes
from dbt.adapters.paimon.unchanged.fingerprints import CannotSkip, Fingerprinter
from dbt.adapters.paimon.unchanged.keys import Key
from dbt.adapters.paimon.unchanged.passed_tests import Pass, PassedTestsCache
from dbt.adapters.paimon.writing.statement_result import StatementResult

if TYPE_CHECKING:
    import agate

logger = AdapterLogger("Paimon")


class DataTests:
    """Called by the materialization of data tests.

    Args:
        adapter: the adapter.
        making: finds out what nodes are made of.
    """

    def __init__(self, adapter: AdapterProtocol, making: Fingerprinter) -> None:
        self._adapter = adapter
        self._making = making
        # By test; a test runs on one thread.
        self._tested: dict[str, Key] = {}

    @cached_property
    def _passes(self) -> PassedTestsCache:
        config = self._adapter.config
        return PassedTestsCache(Path(config.project_root) / config.target_path)

    def passed(self, test: Mapping[str, Any], *, stores_failures: bool) -> StatementResult | None:
        """dbt's response for a test that has passed over the same rows; None if it has to run, which the log says why.

        Nothing is asked of Spark for a test without `skip_unchanged`.

        Args:
            test: the node in the manifest, compiled.
            stores_failures: whether the rows that fail go to a table.

        Raises:
            ConfigErrors: `skip_unchanged` is neither true nor false.
        """
        self._tested.pop(test["unique_id"], None)
        problems = Problems(test["name"])
        skipping.check(test["config"], problems)
        problems.raise_if_any()
        if not skipping.is_on(test["config"]):
            return None
        return self._making.unless_run(test, lambda: self._reused(test, stores_failures))

    def _reused(self, test: Mapping[str, Any], stores_failures: bool) -> StatementResult:
        if reason := nodes.never(test, "", False):
            raise CannotSkip(reason, always=True)
        if stores_failures:
            raise CannotSkip("it stores its failures", always=True)
        key = self._making.of(self._making.spark(), test).key
        self._tested[test["unique_id"]] = key
        last = self._passes.last(test["unique_id"])
        if last is None:
            raise CannotSkip("it has not passed yet")
        if last.node != key.node:
            raise CannotSkip(
                f"its query, a view in it or its config is another than when it passed at {last.at}"
            )
        if last.inputs != key.inputs:
            raise CannotSkip(f"an input has changed since it passed at {last.at}")
        del self._tested[test["unique_id"]]
        return StatementResult(responses.of_passed(last.at), _passed())

    def note(self, test: Mapping[str, Any], result: agate.Table) -> None:
        """Keep a pass.

        Args:
            test: the node in the manifest.
            result: of dbt's statement: `failures`, `should_warn` and `should_error` of one row.
        """
        key = self._tested.pop(test["unique_id"], None)
        if key is None:
            return
        _, *flags = result.rows[0]
        if any(str(flag).lower() != "false" for flag in flags):
            return
        self._making.unless_run(test, lambda: self._keep(test, key))

    def _keep(self, test: Mapping[str, Any], key: Key) -> None:
        # What was committed while the test ran may have been read, or not.
        if self._making.of(self._making.spark(), test).key != key:
            raise CannotSkip("an input changed meanwhile")
        try:
            self._passes.keep(Pass.of(test["unique_id"], key))
        except OSError as exc:
            logger.debug(f"{test['name']}: its pass could not be kept: {exc}")


def _passed() -> agate.Table:
    """What dbt's statement gives for a test that passes."""
    from dbt_common.clients import agate_helper

    row = {"failures": 0, "should_warn": False, "should_error": False}
    return agate_helper.table_from_data_flat([row], list(row))

"""`adapter.unchanged_tests`: skips a data test that has passed on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.spark import responses
from dbt.adapters.paimon.spec import skipping
from dbt.adapters.paimon.spec.config_values import is_on
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.unchanged import nodes
from dbt.adapters.paimon.unchanged.fingerprints import CannotSkip, Fingerprinter
from dbt.adapters.paimon.unchanged.keys import Key
from dbt.adapters.paimon.unchanged.passed_tests import Pass, PassedTestsCache
from dbt.adapters.paimon.writing import model_query
from dbt.adapters.paimon.writing.statement_result import StatementResult

if TYPE_CHECKING:
    import agate

logger = AdapterLogger("Paimon")


class DataTests:
    """Used by the materialization of data tests."""

    def __init__(self, adapter: AdapterProtocol, fingerprinter: Fingerprinter) -> None:
        self._adapter = adapter
        self._fingerprinter = fingerprinter
        # By unique id; a test runs on one thread.
        self._tested: dict[str, Key] = {}

    @cached_property
    def _passes(self) -> PassedTestsCache:
        config = self._adapter.config
        return PassedTestsCache(Path(config.project_root) / config.target_path)

    def passed(self, test: Mapping[str, Any], *, stores_failures: bool) -> StatementResult | None:
        """dbt's response for a test that passed on the same rows; None if it has to run, with the reason in the log.

        Runs no query for a test without `skip_unchanged`.

        Raises:
            ConfigErrors: `skip_unchanged` is neither true nor false.
        """
        self._tested.pop(test["unique_id"], None)
        problems = Problems(test["name"])
        skips = is_on(test["config"], skipping.KEY, problems)
        problems.raise_if_any()
        if not skips:
            return None
        result = None
        with self._fingerprinter.reason_logged(test):
            result = self._reused(test, stores_failures)
        return result  # noqa: RET504 - None if the block suppressed an error

    def _reused(self, test: Mapping[str, Any], stores_failures: bool) -> StatementResult:
        if reason := nodes.never(test, "", False):
            raise CannotSkip(reason, always=True)
        if stores_failures:
            raise CannotSkip("it stores its failures", always=True)
        key = self._fingerprinter.of(self._fingerprinter.spark(), _with_thresholds(test)).key
        self._tested[test["unique_id"]] = key
        last = self._passes.last(test["unique_id"])
        if last is None:
            raise CannotSkip("it has not passed yet")
        if change := last.key.change(key):
            raise CannotSkip(f"{change} since it passed at {last.at}")
        del self._tested[test["unique_id"]]
        return StatementResult(responses.of_reuse(f"inputs and query as when it passed at {last.at}"), _passed())

    def note(self, test: Mapping[str, Any], result: agate.Table) -> None:
        """Store a test's key if it passed; `result` is dbt's row of `failures`, `should_warn` and `should_error`."""
        key = self._tested.pop(test["unique_id"], None)
        if key is None:
            return
        _, *flags = result.rows[0]
        if any(str(flag).lower() != "false" for flag in flags):
            return
        with self._fingerprinter.reason_logged(test):
            # The test may have read rows that were committed while it ran.
            if self._fingerprinter.of(self._fingerprinter.spark(), _with_thresholds(test)).key != key:
                raise CannotSkip("an input changed while it ran")
            try:
                self._passes.keep(Pass.of(test["unique_id"], key))
            except OSError as exc:
                logger.debug(f"{test['name']}: its pass could not be stored: {exc}")


def _with_thresholds(test: Mapping[str, Any]) -> dict[str, Any]:
    """The test with the statement that dbt runs: `fail_calc`, `warn_if` and `error_if` may read tables or the time."""
    config = test["config"]
    count = config["fail_calc"]
    query = model_query.from_sql(model_query.one_query(test["compiled_code"]), ())
    selected = f"{count} as failures, {count} {config['warn_if']} as warns, {count} {config['error_if']} as fails"
    return {**test, "compiled_code": f"select {selected}\nfrom {query} dbt_internal_test"}


def _passed() -> agate.Table:
    from dbt_common.clients import agate_helper

    row = {"failures": 0, "should_warn": False, "should_error": False}
    return agate_helper.table_from_data_flat([row], list(row))

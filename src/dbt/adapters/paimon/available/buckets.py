"""Buckets: what to tell of a config, what to refuse, and how to change their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.connections import PaimonConnectionManager
from dbt.adapters.paimon.maintenance.compaction import compaction_problems
from dbt.adapters.paimon.maintenance.rescale import Step, rescale_steps
from dbt.adapters.paimon.spec import foreign_config
from dbt.adapters.paimon.spec.advice import advice
from dbt.adapters.paimon.spec.problems import Problems

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec


class BucketMethods(AvailableMethods):
    """Methods about the layout of a table's rows."""

    def advise(
        self, model: Mapping[str, Any], spec: TableSpec, types: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Warn of what a valid config may do that its writer does not expect, once a node (see `table_advice`).

        Raises:
            EventCompilationError: with dbt's --warn-error.
        """
        # A microbatch model comes here with every batch.
        for message in advice(spec, model["config"], model.get("name", ""), types):
            if self._told.first(("advice", message)):
                warn_or_error(AdapterEventWarning(name="Paimon", base_msg=message, args=[]))

    def check_foreign(self, model: Mapping[str, Any]) -> None:
        """Warn of what a node has in its config for another adapter, once a run for each key (see `foreign_config`).

        Raises:
            ConfigErrors: a view's decides who sees which rows; that of a table is refused with its config.
            EventCompilationError: with dbt's --warn-error.
        """
        config, name = model.get("config", {}), model.get("name", "")
        problems = Problems(name, passes=self._passes)
        if config.get("materialized") == "view":
            for key, reason in foreign_config.refusals(config):
                problems.add_unread(key, config[key], reason)
            problems.raise_if_any()
        for key, reason in foreign_config.warnings(config):
            # A package has it in all of its models.
            if self._told.first(("foreign", key)):
                told = Problems(name)
                told.add(key, config[key], f"{reason}. Told once a run, whichever others have it")
                (message,) = told.messages
                warn_or_error(AdapterEventWarning(name="Paimon", base_msg=message, args=[]))

    def check_compaction(self, relation: PaimonRelation, arguments: Mapping[str, Any]) -> None:
        """Refuse a compaction that its table cannot have, before Paimon ends it half way through its text.

        Raises:
            DbtRuntimeError: every reason, with the remedy.
        """
        problems = compaction_problems(self.existing_table(relation).as_spec(), arguments, self.environment)
        if problems:
            listed = "\n".join(f"  {problem}" for problem in problems)
            raise DbtRuntimeError(f"compact on {relation}:\n{listed}")

    @available.parse_none
    def rescale(
        self,
        relation: PaimonRelation,
        bucket_num: int | None = None,
        partitions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Give a table's partitions another number of buckets (see `rescale`), as their only writer.

        Raises:
            DbtRuntimeError: all that is wrong, before any statement.
            DbtDatabaseError: a statement failed, and the table is as it was.
        """
        assert isinstance(self.connections, PaimonConnectionManager)
        with self._alone(relation):
            steps = rescale_steps(
                (relation.database or "", relation.schema or "", relation.identifier or ""),
                self.existing_table(relation),
                self.environment,
                bucket_num=bucket_num,
                partitions=partitions,
            )
            done: list[Step] = []
            try:
                for step in steps:
                    self.connections.execute(step.sql, conf=step.conf)
                    done.append(step)
            except DbtRuntimeError:
                for step in reversed(done):
                    if step.undo:
                        self.connections.execute(step.undo)
                raise

"""Buckets: what to tell of a config, what to refuse, and how to change their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import foreign_config
from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.compaction import compaction_problems
from dbt.adapters.paimon.connections import PaimonConnectionManager
from dbt.adapters.paimon.rescale import Step, rescale_steps
from dbt.adapters.paimon.table_advice import advice
from dbt.adapters.paimon.table_spec import Problems

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.table_spec import TableSpec


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
        told: set[str] = self.__dict__.setdefault("_advice_told", set())
        for message in advice(spec, model["config"], model.get("name", ""), types):
            if message not in told:
                told.add(message)
                warn_or_error(AdapterEventWarning(name="Paimon", base_msg=message, args=[]))
        foreign: set[str] = self.__dict__.setdefault("_foreign_told", set())
        for key, reason in foreign_config.warnings(model["config"]):
            # A package has it in all of its models.
            if key not in foreign:
                foreign.add(key)
                problems = Problems(model.get("name", ""))
                problems.add(key, model["config"][key], reason)
                (message,) = problems.messages
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

"""Methods on `adapter` for buckets: warnings and errors about a config, and rescaling."""

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
    """Checks of a table's layout, and changes to it."""

    def advise(
        self, model: Mapping[str, Any], spec: TableSpec, types: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Warn about a valid config that may surprise its author, once per node (see `spec.advice`).

        Raises:
            EventCompilationError: with dbt's --warn-error.
        """
        # A microbatch model calls this for every batch.
        for message in advice(spec, model["config"], model.get("name", ""), types):
            if self._told.first(("advice", message)):
                warn_or_error(AdapterEventWarning(name="Paimon", base_msg=message, args=[]))

    def check_foreign(self, model: Mapping[str, Any]) -> None:
        """Warn about config keys meant for another adapter, once per run and key (see `spec.foreign_config`).

        Raises:
            ConfigErrors: a view has a key that restricts who sees which rows (for a table, `table_spec` refuses it).
            EventCompilationError: with dbt's --warn-error.
        """
        config, name = model.get("config", {}), model.get("name", "")
        problems = Problems(name, passes=self._passes)
        if config.get("materialized") == "view":
            for key, reason in foreign_config.refusals(config):
                problems.add_unread(key, config[key], reason)
            problems.raise_if_any()
        for key, reason in foreign_config.warnings(config):
            # A package may set the same key in all of its models.
            if self._told.first(("foreign", key)):
                told = Problems(name)
                told.add(key, config[key], f"{reason}. Told once a run, whichever others have it")
                (message,) = told.messages
                warn_or_error(AdapterEventWarning(name="Paimon", base_msg=message, args=[]))

    def check_compaction(self, relation: PaimonRelation, arguments: Mapping[str, Any]) -> None:
        """Refuse a compaction that the table does not support, rather than let Paimon fail half way through.

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
        """Change the number of buckets of a table's partitions, holding the table's lock (see `maintenance.rescale`).

        Raises:
            DbtRuntimeError: the arguments are wrong; nothing was run.
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

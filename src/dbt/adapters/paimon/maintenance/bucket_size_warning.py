"""The warning about a table with `bucket: auto` that has outgrown its number of buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, table_name
from dbt.adapters.paimon.errors import deprecations
from dbt.adapters.paimon.spark.formatting import counted, size
from dbt.adapters.paimon.spec import bucket_numbers
from dbt.adapters.paimon.writing.bucket_tasks import PARTITIONS

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation

logger = AdapterLogger("Paimon")


def warn(adapter: AdapterProtocol, relation: PaimonRelation) -> None:
    """Warn if a table has far too few buckets for its size; with a remote Spark, only `maintain` finds this.

    Errors here never fail the node: its rows are written.
    """
    embedded = adapter.handle.embedded()
    tasks = adapter.handle.setting(PARTITIONS)
    if embedded is None or not (tasks and tasks.isdigit()):
        return
    name = table_name(relation)
    try:
        found = embedded.fixed_buckets(name)
    except Exception as exc:  # noqa: BLE001 - of py4j
        logger.debug(f"{relation}: size unknown: {exc}")
        return
    if found is None or not bucket_numbers.has_outgrown(found.buckets, found.largest_partition, int(tasks)):
        return
    best = bucket_numbers.wanted(found.largest_partition, int(tasks))
    deprecations.warn(
        f"{relation} has outgrown its {counted(found.buckets, 'bucket')}: {size(found.largest_partition)} in its "
        f"largest partition would be better spread over {best}. Run `dbt run-operation rescale --args "
        f"'{{relation: {relation.schema}.{relation.identifier}, bucket_num: {best}}}'` once, or let runs do it: "
        "`maintenance: {rescale: {after_run: true}}` in the model's config. Its rows are all right."
    )

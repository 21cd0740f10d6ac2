"""known-defects.md: Paimon's defects and what the adapter does about them, from `capabilities`."""

from __future__ import annotations

from typing import Final

from dbt.adapters.paimon.capabilities import known_defects
from reference.markdown import plain, table

_PAGE: Final = """\
# Known defects of Paimon

Each defect returns wrong rows, loses rows or makes a table unreadable. The second column lists the Paimon
releases that have the defect, the third what dbt-paimon does about it. `dbt debug` counts the defects of your
`paimon_version`.

Other pages have [what file formats lose](../data-types.md#what-files-lose), [NaN in ORC](../limits.md#reading),
a running Flink compaction job that [loses a new column](../flink.md#a-job-that-is-running),
Paimon's own [incremental queries over several commits](../changelog.md#reading-changes), and deletes that wait in
[postpone buckets](../buckets.md#postpone-buckets).

{table}

Programs that use the same tables without dbt-paimon are not protected.

`make reference` writes this page from `capabilities.py`.
"""


def page() -> str:
    """The whole page."""
    rows = [
        (plain(each.wrong), each.releases, plain(each.answer), f"`tests/{each.test}`")
        for each in sorted(known_defects(), key=lambda each: (each.releases != "all", each.releases, each.wrong))
    ]
    return _PAGE.format(table=table(("what goes wrong", "Paimon", "dbt-paimon", "test"), rows))

"""known-defects.md: what Paimon gets wrong, and what the adapter does about it, from `capabilities`."""

from __future__ import annotations

from typing import Final

from dbt.adapters.paimon.capabilities import known_defects
from reference.markdown import plain, table

_PAGE: Final = """\
# Known defects of Paimon

Each of these gives wrong rows, loses some, or makes a table unreadable, in the releases of Paimon that the second
column names. dbt-paimon avoids it, refuses what would meet it, or warns. `dbt debug` counts those of your
`paimon_version`. `make reference` writes this page.

{table}

Programs that write the same tables without dbt-paimon meet them all.
"""


def page() -> str:
    """The whole page."""
    rows = [
        (plain(each.label), each.releases, plain(each.answer), f"`tests/{each.test}`")
        for each in sorted(
            known_defects(), key=lambda each: (each.releases != "all", each.releases, each.label)
        )
    ]
    return _PAGE.format(table=table(("what does not work", "Paimon", "dbt-paimon", "test"), rows))

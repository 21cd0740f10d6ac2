"""The progress line of a long statement."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.spark.job_metrics import Progress
from dbt.adapters.paimon.spark.progress import line, short_name


@pytest.mark.parametrize(
    ("progress", "seconds", "expected"),
    [
        (
            Progress(3, 4, 120, 200, 12_400_000, 1_181_116_006, 3_200_000, 220_200_960, 0),
            40.2,
            "orders: 40 s, stage 3 of 4, 120 of 200 tasks, read 12.4 M rows (1.1 GiB), wrote 3.2 M rows (210.0 MiB)",
        ),
        (Progress(1, 1, 0, 1, 0, 0, 0, 0, 0), 10, "orders: 10 s, stage 1 of 1, 0 of 1 task"),
        (
            Progress(2, 2, 0, 0, 7, 0, 0, 0, 2048),
            200,
            "orders: 3 min 20 s, no Spark job at the moment, read 7 rows, shuffled 2.0 KiB",
        ),
        (None, 8000, "orders: 2 h 13 min"),
    ],
)
def test_line(progress, seconds, expected) -> None:
    assert line("orders", seconds, progress) == expected


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ("model.shop.orders", "orders"),
        ("model.shop.orders.v2", "orders.v2"),
        ("test.shop.unique_orders_id.fed79b3a6e", "unique_orders_id"),
        ("operation.shop.shop-on-run-end-0", "shop-on-run-end-0"),
        ("macro_compact", "macro_compact"),
        ("list_paimon_analytics", "listing paimon_analytics"),
        ("dbt", "dbt"),
    ],
)
def test_short_name(node, name) -> None:
    assert short_name(node) == name

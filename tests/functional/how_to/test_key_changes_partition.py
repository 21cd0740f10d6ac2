"""docs/how-to/a-key-changes-its-partition.md, step by step."""

from __future__ import annotations

MESSAGES = """
select * from values
  (1, 1, 'north', 10, 1), (1, 2, 'north', 20, 2), (2, 1, 'south', 11, 3), (3, 2, 'south', 21, 4)
  as v (day, order_id, region, amount, message_no)
"""
QUERY = "select order_id, region, amount from orders"
BEGUN, MOVES = "", "Let Paimon move the row"


def test_the_page(follow, read):
    page = follow("a-key-changes-its-partition.md")
    (page.folder / "models").mkdir()
    (page.folder / "models" / "messages.sql").write_text(MESSAGES)

    page.write(BEGUN)
    page.run("dbt run")
    page.run("dbt run --select orders --vars 'day: 2'")
    assert read(page, QUERY) == [(1, "north", 10), (1, "south", 11), (2, "north", 20)]

    page.write(MOVES)
    plan, rebuild, moved, shown = page.commands(MOVES)
    assert "LOSES" in page.run(plan)
    assert len(read(page, QUERY)) == 3
    page.run(rebuild)
    assert read(page, QUERY) == [(1, "south", 11), (2, "north", 20)]
    page.run(moved)
    page.run(shown)
    assert read(page, QUERY) == [(1, "south", 11), (2, "south", 21)]

"""docs/how-to/two-teams-write-one-table.md, step by step."""

from __future__ import annotations

from dbt.cli.main import dbtRunner

MESSAGES = {
    "dispatch/models/departure_messages.sql": """
select flight_id, timestamp_seconds(at) as departed_at, dep_delay from values
  {% if var('round', 1) == 1 %}(1, 100, 5), (2, 200, 0){% else %}(1, 90, 99), (2, 210, 7){% endif %}
  as v (flight_id, at, dep_delay)
""",
    "operations/models/arrival_messages.sql": """
select flight_id, timestamp_seconds(at) as arrived_at, arr_delay from values (1, 300, 3), (3, 400, 4) as v (flight_id, at, arr_delay)
""",
}
AGREED, EACH = "What both agree on", "What each writes"
QUERY = "select flight_id, dep_delay, arr_delay from paimon.{schema}_shared.flights"


def test_the_page(follow, read):
    page = follow("two-teams-write-one-table.md", "dispatch", "operations", "packages/flights")
    for name, sql in MESSAGES.items():
        (page.folder / name).parent.mkdir()
        (page.folder / name).write_text(sql)
    page.write(AGREED)
    page.write(EACH)
    query = QUERY.format(schema=page.target["schema"])
    for project in ("dispatch", "operations"):
        place = str(page.folder / project)
        assert dbtRunner().invoke(["deps", "--project-dir", place, "--profiles-dir", place]).success

    dispatch, operations = page.commands(EACH)[-2:]
    page.run(dispatch)
    assert read(page, query) == [(1, 5, None), (2, 0, None)]
    page.run(operations)
    assert read(page, query) == [(1, 5, 3), (2, 0, None), (3, None, 4)]

    # An older message of flight 1 and a newer one of flight 2. --full-refresh does not rebuild the shared table.
    page.run(f"{dispatch} --vars 'round: 2' --full-refresh")
    assert read(page, query) == [(1, 5, 3), (2, 7, None), (3, None, 4)]

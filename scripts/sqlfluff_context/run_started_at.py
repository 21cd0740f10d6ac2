"""dbt's `run_started_at` for sqlfluff's jinja templater; any time will do for checking the layout."""

from datetime import datetime, timezone

_MOMENT = datetime(2014, 1, 1, tzinfo=timezone.utc)
year = _MOMENT.year
month = _MOMENT.month
day = _MOMENT.day
strftime = _MOMENT.strftime
isoformat = _MOMENT.isoformat

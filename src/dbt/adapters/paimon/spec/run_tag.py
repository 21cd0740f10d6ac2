"""`table_tag`: the tag that a run creates for the table snapshot it has written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt_common.invocation import get_invocation_started_at

from dbt.adapters.paimon.config_keys import DURATION, Key
from dbt.adapters.paimon.options.table_options import is_age
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.sql.names import tag_problem

REPLACE: Final = "replace"
KEEP: Final = "keep"
KEYS: Final[Mapping[str, Key]] = {
    "name": Key(
        "The tag's name; `%Y%m%d` in it is the day on which the run began, in UTC",
        "a `strftime` pattern",
        default="required",
    ),
    "time_retained": Key(
        "How long the tag is kept; the next commit after that deletes it", DURATION, default="forever"
    ),
    "if_exists": Key(
        "Whether a tag that exists is moved to the new table snapshot, or stays where it is",
        values=(REPLACE, KEEP),
        default=f"`{REPLACE}`",
    ),
}


@dataclass(frozen=True)
class RunTag:
    """A tag to create after the commit; `if_exists` says whether to move (REPLACE) or KEEP an existing tag."""

    name: str
    time_retained: str | None = None
    if_exists: str = REPLACE


def read(value: Any, problems: Problems) -> RunTag | None:
    """The tag in a model's config; adds its faults to `problems`.

    A date in the name is a pattern: dbt keeps a parsed config until its file changes, so a date that Jinja writes there
    would stay the same in later runs.
    """
    if value is None:
        return None
    given = value if isinstance(value, Mapping) else {"name": value}
    problems.add_unknown("table_tag", given, KEYS)
    name, retained, if_exists = (given.get(key) for key in KEYS)
    if isinstance(name, str):
        name = get_invocation_started_at().strftime(name)
    problem = (
        tag_problem(name) if isinstance(name, str) else "the name of the tag is needed. Write it as in 'month_end'"
    )
    if problem:
        problems.add("table_tag", value, problem)
    if retained is not None and not is_age(retained):
        problems.add("table_tag.time_retained", retained, "a duration is needed. Write it as in '7 d' or '12 h'")
    if if_exists not in (None, REPLACE, KEEP):
        problems.add("table_tag.if_exists", if_exists, f"not allowed. Use {REPLACE} or {KEEP}")
    return RunTag(str(name), None if retained is None else str(retained), if_exists or REPLACE)

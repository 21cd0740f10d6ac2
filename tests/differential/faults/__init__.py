"""Defects that were once there, put back one at a time, to see that the sequences find them.

A letter is a macro file beside this one, which takes the place of the adapter's macro, or functions that take the place
of the adapter's.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from dbt.adapters.base.relation import BaseRelation

from differential.faults import views

# What takes the place of a function, by the function itself.
_Instead = Callable[[Any], Any]


def _old_window(_: Any) -> Any:
    """event_time cast to an instant, which has the session's zone."""

    def batch_condition(model: Mapping[str, Any], columns: Any) -> str:
        column, batch = f"cast({{alias}}.`{model['config']['event_time']}` as timestamp)", model["batch"]
        start, end = batch["event_time_start"], batch["event_time_end"]
        return f"{column} >= timestamp '{start}' and {column} < timestamp '{end}'"

    return batch_condition


def _takes_null(old: Any) -> Any:
    def destination(*args: Any, **kwargs: Any) -> Any:
        found = old(*args, **kwargs)
        return replace(found, columns=tuple(replace(column, nullable=True) for column in found.columns))

    return destination


def _by_position(old: Any) -> Any:
    return lambda column, target, to: column.quoted if "struct<" in column.dtype else old(column, target, to)


def _cast(_: Any) -> Any:
    return lambda column, target, to: f"cast({column.quoted} as {target.data_type})"


def _by_number(old: Any) -> Any:
    def of(text: str) -> Any:
        found = old(text)
        return replace(found, unique=f"{found.snapshot}.0")

    return of


def _whoever_wrote(old: Any) -> Any:
    last: dict[Any, Any] = {}

    def carrying(stand: Any, key: Any) -> Any:
        if key in last:
            return last[key]
        last[key] = old(stand, key)
        return last[key]

    return carrying


def _without_views(old: Any) -> Any:
    return lambda frame: replace(old(frame), text="")


def _as_written(_: Any) -> Any:
    return lambda procedure, arguments, *_: dict(arguments)


def _ignoring(option: str) -> _Instead:
    """A function that does not see an argument."""
    return lambda old: lambda *args, **kwargs: old(*args, **{**kwargs, option: False})


def _none(_: Any) -> Any:
    return lambda *args, **kwargs: None


def _no(_: Any) -> Any:
    return lambda *args, **kwargs: False


def _as_it_is(_: Any) -> Any:
    return lambda condition: condition


def _but_first_row(old: Any) -> Any:
    return lambda spec, versions: None if spec.merge_engine == "first-row" else old(spec, versions)


_PAIMON: Final = "dbt.adapters.paimon"
# letter -> (module, attribute, what takes its place)
PATCHES: Final[Mapping[str, tuple[tuple[str, str, _Instead], ...]]] = {
    # NULL in a key is not looked for.
    "b": ((f"{_PAIMON}.writing.row_checks", "destination", _takes_null),),
    # A struct is cast by position.
    "c": ((f"{_PAIMON}.writing.row_checks", "_value", _by_position),),
    # Windows in the session's zone.
    "d": (
        (f"{_PAIMON}.relation", "PaimonRelation._render_event_time_filtered", lambda _: BaseRelation._render_event_time_filtered),
        (f"{_PAIMON}.sql.event_time", "batch_condition", _old_window),
    ),
    # The names of a config are compared with those of the table as they are written.
    "e": tuple(
        (f"{_PAIMON}.{module}", "with_column_case", lambda _: lambda spec, columns: spec)
        for module in ("spec.spelling", "tables.changeset")
    ),
    # A filter on a column that became wider is cast to the type of the older files.
    "f": (
        (f"{_PAIMON}.spec.components.files", "filterable", _ignoring("older_types")),
        (f"{_PAIMON}.tables.column_changes", "missing_filter_capability", _none),
    ),
    # Changes are read from the files of commits, also of deletes that write files again.
    "g": ((f"{_PAIMON}.changes.positions", "Commit.takes_files_away", lambda _: property(_no(None))),),
    # A rebuild that loses tags is not asked about.
    "l": ((f"{_PAIMON}.tables.rebuilds", "refuse_unasked", lambda _: lambda *args: None),),
    # What a run with --empty does not see is deleted.
    "m": ((f"{_PAIMON}.writing.api", "Rows.reads_part", _no),),
    # DELETE takes the rows for which its condition is NULL.
    "n": ((f"{_PAIMON}.sql.deletions", "strict", _as_it_is),),
    # A time of the session's is read on the JVM's clock.
    "o": ((f"{_PAIMON}.maintenance.times", "with_paimons_clock", _as_written),),
    # DELETE drops the partition of NULL for one of blank text.
    "p": ((f"{_PAIMON}.writing.row_deletes", "_BY_ROWS", lambda _: {}),),
    # Stale keys: an input's table snapshot is known by its number alone, as if it never came again.
    "s": ((f"{_PAIMON}.metadata.snapshots", "Commit.of_json", _by_number),),
    # Stale keys: whoever has written the table since.
    "t": ((f"{_PAIMON}.unchanged.api", "_commit_with_key", _whoever_wrote),),
    # Stale keys: a view is what its name says.
    "v": ((f"{_PAIMON}.spark.analysis", "by_plan", _without_views),),
    # DELETE does nothing where a column says what a row does.
    "u": ((f"{_PAIMON}.spec.deleting", "deletes_lost", _none),),
    # DELETE hides the other rows of a first-row table.
    "w": ((f"{_PAIMON}.spec.deleting", "delete_fault", _but_first_row),),
    # Whatever the type, it is cast.
    "h": (
        (f"{_PAIMON}.writing.row_checks", "_type_fault", lambda _: lambda *args: ""),
        (f"{_PAIMON}.writing.row_checks", "_value", _cast),
    ),
    **views.PATCHES,
}  # fmt: skip


def plant(letter: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Put a defect back until the test ends; gives the macro files that the project gets for it.

    Raises:
        LookupError: there is none of this letter, or what it is to take the place of is not there any more.
    """
    macros = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob(f"{letter}.sql")}
    if not macros and letter not in PATCHES:
        raise LookupError(f"no defect {letter}")
    for module, attribute, instead in PATCHES.get(letter, ()):
        try:
            owner: Any = importlib.import_module(module)
            *path, name = attribute.split(".")
            for part in path:
                owner = getattr(owner, part)
            old = getattr(owner, name)
        except (ImportError, AttributeError) as exc:
            raise LookupError(f"defect {letter} cannot be put back: {module}.{attribute} is gone") from exc
        monkeypatch.setattr(owner, name, instead(old))
    return macros

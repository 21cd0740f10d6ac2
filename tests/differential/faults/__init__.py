"""Former defects, put back one at a time to check that the sequences find them.

Each letter stands for a macro file here that replaces an adapter macro, or for functions that replace the adapter's.
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

# Makes the replacement of a function from the function itself.
_Instead = Callable[[Any], Any]


def _old_window(_: Any) -> Any:
    """Casts event_time to `timestamp`, which has the session's time zone."""

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
    """Calls the function with an option set to False."""
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
# letter -> (module, attribute, replacement)
PATCHES: Final[Mapping[str, tuple[tuple[str, str, _Instead], ...]]] = {
    # Keys are not checked for NULL.
    "b": ((f"{_PAIMON}.writing.row_checks", "destination", _takes_null),),
    # A struct is cast by position.
    "c": ((f"{_PAIMON}.writing.row_checks", "_value", _by_position),),
    # Microbatch windows are in the session's time zone.
    "d": (
        (f"{_PAIMON}.relation", "PaimonRelation._render_event_time_filtered", lambda _: BaseRelation._render_event_time_filtered),
        (f"{_PAIMON}.sql.event_time", "batch_condition", _old_window),
    ),
    # Column names in a config are compared with the table's columns case-sensitively.
    "e": tuple(
        (f"{_PAIMON}.{module}", "with_column_case", lambda _: lambda spec, columns: spec)
        for module in ("spec.spelling", "tables.changeset")
    ),
    # A filter on a widened column is cast to the type of the older files.
    "f": (
        (f"{_PAIMON}.spec.components.files", "filterable", _ignoring("older_types")),
        (f"{_PAIMON}.tables.column_changes", "missing_filter_capability", _none),
    ),
    # Changes are read from the files of commits, even if deletes have rewritten files.
    "g": ((f"{_PAIMON}.changes.positions", "Commit.takes_files_away", lambda _: property(_no(None))),),
    # A rebuild that would lose tags is not refused.
    "l": ((f"{_PAIMON}.tables.rebuilds", "refusal", _none),),
    # A run with --empty deletes the rows that it does not see.
    "m": ((f"{_PAIMON}.plan.runs", "writes_partial_rows", _no),),
    # DELETE also deletes the rows for which its condition is NULL.
    "n": ((f"{_PAIMON}.sql.deletions", "strict", _as_it_is),),
    # A time in the session's time zone is read in the JVM's.
    "o": ((f"{_PAIMON}.maintenance.times", "with_paimons_clock", _as_written),),
    # DELETE drops the partition of NULL instead of one of blank text.
    "p": ((f"{_PAIMON}.writing.row_deletes", "_BY_ROWS", lambda _: {}),),
    # Stale keys: an input's table snapshot is identified by its ID alone, as if IDs were never reused.
    "s": ((f"{_PAIMON}.metadata.snapshots", "Commit.of_json", _by_number),),
    # Stale keys: a key still counts after others have written the table.
    "t": ((f"{_PAIMON}.unchanged.api", "_commit_with_key", _whoever_wrote),),
    # Stale keys: a view is identified by its name, not by its query.
    "v": ((f"{_PAIMON}.spark.analysis", "by_plan", _without_views),),
    # DELETE does nothing in a table with a rowkind_field.
    "u": ((f"{_PAIMON}.spec.deleting", "deletes_lost", _none),),
    # DELETE hides the other rows of a first-row table.
    "w": ((f"{_PAIMON}.spec.deleting", "delete_fault", _but_first_row),),
    # Values are cast to any type, even with a loss.
    "h": (
        (f"{_PAIMON}.writing.row_checks", "_type_fault", lambda _: lambda *args: ""),
        (f"{_PAIMON}.writing.row_checks", "_value", _cast),
    ),
    **views.PATCHES,
}  # fmt: skip


def plant(letter: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Put a defect back until the test ends; returns its macro files for the project.

    Raises:
        LookupError: no defect has this letter, or what it replaces no longer exists.
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

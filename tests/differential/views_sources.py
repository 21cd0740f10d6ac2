"""Draws the tables that views read, their rows, and changes to them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from differential.views_plan import Change, Source, View

_FACT: Final = {
    "id": "int",
    "p": "string",
    "k": "int",
    "j": "string",
    "parent": "int",
    "v": "int",
    "d": "decimal(10,2)",
    "s": "string",
    "dt": "date",
    "extra": "int",
    "seq": "int",
}
_DIMENSIONS: Final = {
    "a": ({"k": "int", "name": "string", "grp": "string", "w": "int", "extra": "int", "seq": "int"}, ("k",)),
    "b": ({"x": "int", "y": "string", "label": "string", "w": "int", "extra": "int", "seq": "int"}, ("x", "y")),
    "u": ({"id": "int", "status": "string", "amount": "decimal(10,2)", "extra": "int", "seq": "int"}, ("id",)),
}  # fmt: skip
_LOG: Final = {"id": "int", "p": "string", "k": "int", "s": "string", "v": "int", "extra": "int"}
_ENGINES: Final = ("deduplicate",) * 5 + ("partial-update", "aggregation", "first-row")
_CHANGES: Final = (
    *("insert",) * 12,
    *("update",) * 6,
    *("delete",) * 5,
    *("replace",) * 2,
    *("delete and insert",) * 3,
    *("merge",) * 2,
    *("overwrite",) * 2,
    *("overwrite partition",) * 2,
    *("compact",) * 2,
    *("roll back",) * 2,
    "empty",
    "recreate",
    "expire",
    "add column",
    "rename column",
)
_COMPACT: Final = "call paimon.sys.compact(table => '{{schema}}.{}')"
_EXPIRE: Final = (
    "call paimon.sys.expire_snapshots(table => '{{schema}}.{}', retain_max => 1, retain_min => 1, "
    "older_than => '2100-01-01 00:00:00')"
)
_OWN_CHANGES: Final = (
    "write",
    "write",
    "delete",
    "compact",
    "roll back",
    "roll back",
    "expire",
    "full refresh",
    "drop",
)


def sources(chance: Random) -> tuple[Source, ...]:
    """The tables of a sequence: two facts, three dimensions, and a log without a key."""
    log_parted = chance.random() < 0.3
    return (
        *(_keyed(chance, name, _FACT, ("id",), parted=chance.random() < 0.4) for name in ("f0", "f1")),
        *(_keyed(chance, name, columns, key) for name, (columns, key) in _DIMENSIONS.items()),
        Source("log", _LOG, (), "p" if log_parted else "", {}),
    )


def _keyed(chance: Random, name: str, columns: dict[str, str], key: tuple[str, ...], *, parted: bool = False) -> Source:
    engine = chance.choice(_ENGINES)
    options = {"bucket": str(chance.choice((1, 1, 2, -1)))}
    moves = parted and engine == "deduplicate" and chance.random() < 0.3
    if moves:
        # The key does not include the partition, so a row can move to another one.
        options["bucket"] = "-1"
    elif parted:
        key = ("p", *key)
    if engine != "deduplicate":
        options["merge-engine"] = engine
    if engine == "first-row":
        options["changelog-producer"] = "lookup"
    elif engine == "aggregation":
        sums = "v" if "v" in columns else "seq"
        options[f"fields.{sums}.aggregate-function"] = "sum"
    else:
        if not moves and chance.random() < 0.25:
            options["sequence.field"] = "seq"
        if chance.random() < 0.25:
            options["changelog-producer"] = chance.choice(("lookup", "full-compaction", "input"))
    if options.get("changelog-producer") in (None, "lookup") and engine != "first-row" and chance.random() < 0.15:
        options["deletion-vectors.enabled"] = "true"
    return Source(name, columns, key, "p" if parted else "", options)


# -- rows -------------------------------------------------------------------------------------------------------------


def _value(chance: Random, source: Source, column: str) -> str:
    if column not in source.key and column not in ("p", "seq") and chance.random() < 0.2:
        return "null"
    if column == "id":
        return str(chance.randint(0, 9))
    if column in ("k", "x", "parent"):
        return str(chance.randint(0, 4))
    if column in ("p", "j", "y"):
        return repr(chance.choice("mno"))
    if source.columns[column] == "int":
        return str(chance.randint(0, 5))
    if source.columns[column] == "date":
        return f"date'2024-01-0{chance.randint(1, 4)}'"
    if source.columns[column].startswith("decimal"):
        return f"{chance.randint(-9, 99)}.{chance.randint(0, 9)}5"
    return repr(chance.choice(("q", "r", "R", "", "ü")))


def _rows(chance: Random, source: Source, count: int) -> str:
    rows: dict[tuple[str, ...], str] = {}
    for number in range(count):
        row = {column: _value(chance, source, column) for column in source.columns}
        key = tuple(row[column] for column in source.key) or (str(number),)
        typed = (
            f"cast(null as {kind})" if row[column] == "null" else row[column] for column, kind in source.columns.items()
        )
        rows[key] = f"({', '.join(typed)})"
    return ", ".join(rows.values())


def insert(chance: Random, source: Source, count: int) -> str:
    """An INSERT of some rows with random keys."""
    return f"insert into <{source.name}> ({', '.join(source.columns)}) values {_rows(chance, source, count)}"


class Changes:
    """Draws changes to the sources, step by step.

    Args:
        chance: makes the choices.
    """

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        # Tables whose column `extra` has been renamed.
        self._renamed: set[str] = set()

    def change(self, source: Source) -> Change:
        """A change to a source, or only to its table snapshots."""
        what = self._chance.choice(_CHANGES)
        if what == "roll back":
            return Change(what, source.name, steps=self._chance.randint(1, 3))
        if what == "recreate":
            self._renamed.discard(source.name)
        elif source.name in self._renamed:
            source = replace(source, columns={name: kind for name, kind in source.columns.items() if name != "extra"})  # fmt: skip
        done = getattr(self, f"_{what.replace(' ', '_')}")(source)
        return Change(what, source.name, (done,) if isinstance(done, str) else done)

    def _insert(self, source: Source) -> str:
        return insert(self._chance, source, self._chance.randint(1, 4))

    def _update(self, source: Source) -> str:
        places = [column for column in source.columns if column not in source.key and column != "seq"]
        column = self._chance.choice(places)
        value = _value(self._chance, source, column)
        return f"update <{source.name}> set {column} = {value} where {self._some(source)}"

    def _delete(self, source: Source) -> str:
        return f"delete from <{source.name}> where {self._some(source)}"

    def _replace(self, source: Source) -> str:
        """Overwrite the table with its rows, some with other values, and some left out."""
        copied = [
            f"cast({_value(self._chance, source, name)} as {kind}) as {name}"
            if name not in source.key and self._chance.random() < 0.3
            else name
            for name, kind in source.columns.items()
        ]
        return (
            f"insert overwrite <{source.name}> ({', '.join(source.columns)}) "
            f"select {', '.join(copied)} from <{source.name}> where not ({self._some(source)})"
        )

    def _delete_and_insert(self, source: Source) -> tuple[str, ...]:
        return self._delete(source), self._insert(source)

    def _merge(self, source: Source) -> str:
        if not source.key:
            return self._insert(source)
        on = " and ".join(f"t.{key} = n.{key}" for key in source.key)
        act = self._chance.choice(("delete", "update set *"))
        rows = f"select * from values {_rows(self._chance, source, 3)} as t({', '.join(source.columns)})"
        return (
            f"merge into <{source.name}> t using ({rows}) n on {on} "
            f"when matched then {act} when not matched then insert *"
        )

    def _overwrite(self, source: Source) -> str:
        rows = _rows(self._chance, source, self._chance.randint(2, 8))
        return f"insert overwrite <{source.name}> ({', '.join(source.columns)}) values {rows}"

    def _overwrite_partition(self, source: Source) -> str:
        if not source.partition:
            return self._overwrite(source)
        others = {name: kind for name, kind in source.columns.items() if name != source.partition}
        part = replace(source, columns=others, key=tuple(key for key in source.key if key in others))
        rows = _rows(self._chance, part, 3)
        return f"insert overwrite <{source.name}> partition (p = 'm') ({', '.join(others)}) values {rows}"

    def _empty(self, source: Source) -> str:
        return self._chance.choice((f"truncate table <{source.name}>", f"delete from <{source.name}>"))

    def _recreate(self, source: Source) -> tuple[str, ...]:
        return f"drop table <{source.name}>", source.create, insert(self._chance, source, 4)

    def _compact(self, source: Source) -> str:
        return _COMPACT.format(source.name)

    def _expire(self, source: Source) -> str:
        return _EXPIRE.format(source.name)

    def _add_column(self, source: Source) -> str:
        return f"alter table <{source.name}> add column more_{self._chance.randint(0, 99)} int"

    def _rename_column(self, source: Source) -> str:
        if source.name in self._renamed:
            return self._add_column(source)
        self._renamed.add(source.name)
        return f"alter table <{source.name}> rename column extra to extra_{self._chance.randint(0, 99)}"

    def _some(self, source: Source) -> str:
        """A condition that some rows meet."""
        column = self._chance.choice([*source.key, *source.key, *source.columns])
        value = _value(self._chance, source, column)
        if value == "null":
            return f"{column} is null"
        return f"{column} {self._chance.choice(('=', '=', '<=', '>'))} {value}"


def own_change(chance: Random, view: View) -> Change:
    """A change to a view's own table."""
    what, name = chance.choice(_OWN_CHANGES), view.name
    statements = {
        "write": f"insert into <{name}> select * from <{name}> limit 2",
        "delete": f"delete from <{name}>",
        "compact": _COMPACT.format(name),
        "expire": _EXPIRE.format(name),
        "drop": f"drop table <{name}>",
    }
    if what in statements:
        return Change(f"{what} of the view", name, (statements[what],))
    return Change(what, name, steps=chance.randint(1, 2))

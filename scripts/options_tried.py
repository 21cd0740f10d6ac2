"""Sets each Paimon option on small tables, and records what changes in batch jobs and which warnings dbt-paimon gives.

For each option and some of its values, it builds a table with a key and one without, writes a second batch, reads the
rows and the changes, and compares them with the same tables without the option. All dbt runs share one process. A
difference that dbt-paimon neither warns about nor refuses needs a line in `options_tried.yml` that says why users
expect it.

Usage: python scripts/options_tried.py [--only TEXT …], with DBT_PAIMON_JARS for a different connector. It updates
the results in docs/compatibility/options.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final

import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION, parse_version
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.options.table_options import OptionDefinition, table_options
from dbt.adapters.paimon.spark.launch import packages
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "docs" / "compatibility" / "options"
EXPECTED: Final = Path(__file__).with_suffix(".yml")

# The query of both batches; the second repeats half of the keys of the first. No key contains a NULL.
_QUERY: Final = """
select id, if(id % 2 = 0, '2020-01-01', {{ "'2020-01-02'" if config.get('primary_key') else 'null' }}) as p,
  id * 10 + {{ var('batch') }} as v, {{ var('batch') }} as n, concat('text ', id) as s, cast(id as double) / 7 as d
from range({{ var('batch') * 10 }}, {{ var('batch') * 10 + 20 }}, 1, 1)
"""
_SHAPES: Final[Mapping[str, dict[str, Any]]] = {
    "keyed": {"primary_key": ["id", "p"], "partition_by": "p", "bucket": 1, "incremental_strategy": "upsert"},
    "append": {"partition_by": "p", "incremental_strategy": "append"},
    # The first batch creates the table without the option; the second sets it.
    "altered": {"partition_by": "p", "incremental_strategy": "append"},
}
# The number of options in one dbt run.
_AT_ONCE: Final = 5
_SLOWER: Final = 4
_BYTES: Final = 1.3


@dataclass
class Tried:
    """A table with one value of an option, or without an option (`name` is empty)."""

    name: str
    value: str
    shape: str
    config: dict[str, Any]
    node: str = ""
    said: str = ""
    error: str = ""
    seconds: list[float] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def baseline(self) -> str:
        """A key for the comparison: this table has the same one as its twin without the option."""
        return json.dumps([self.shape, self.config], sort_keys=True)

    def sql(self) -> str:
        """The SQL of the model."""
        config = {"materialized": "incremental", **_SHAPES[self.shape], **self.config}
        before = config.pop("tblproperties", {})
        after = {**before, **({self.name: self.value} if self.name else {})}
        first = before if self.shape == "altered" else after
        options = f"tblproperties={json.dumps(after)} if var('batch') == 2 else {json.dumps(first)}"
        return f"{{{{ config({options}, **{json.dumps(config)}) }}}}\n{_QUERY}"


def groups(version: str, notes: Mapping[str, Any], only: list[str]) -> Iterator[list[Tried]]:
    """The tables to build, in groups of a few options: one per value and shape, and those to compare them with."""
    texts = {**notes["values"], **notes["formats"]}
    every = {name: OptionDefinition(name, "String") for name in notes["formats"]} | dict(table_options(version))
    names = [name for name in sorted(every) if name not in notes["untried"] and any(text in name for text in only)]
    numbers = count()
    for start in range(0, len(names), _AT_ONCE):
        made: list[Tried] = []
        for name in names[start : start + _AT_ONCE]:
            config = next((each["config"] for each in notes["beside"] if re.match(each["options"], name)), {})
            values = _values(every[name], texts)
            made += [Tried(name, value, shape, config) for value in values for shape in _SHAPES]
        without = {each.baseline: Tried("", "", each.shape, each.config) for each in made}
        made = [*without.values(), *made]
        for each in made:
            each.node = f"t{next(numbers):04}"
        yield made


def _values(option: OptionDefinition, texts: Mapping[str, list[str]]) -> Iterator[str]:
    if option.name in texts:
        yield from texts[option.name]
    elif option.type == "Boolean":
        yield "false" if option.default == "true" else "true"
    elif option.type == "Enum":
        yield from (value for value in option.values if value != option.default)
    elif option.type in ("Integer", "Long"):
        yield from (value for value in ("0", "1") if value != option.default)
    elif option.type in ("Float", "Double"):
        yield from ("0.0", "0.99")
    elif option.type == "Duration":
        yield from ("0 s", "1 s")
    elif option.type == "MemorySize":
        yield from ("0 b", "1 kb")
    elif option.type == "Map":
        yield "0:orc"


class Project:
    """A dbt project in a folder, which is run in this process."""

    def __init__(self, folder: Path, warehouse: Path, tried: list[Tried]) -> None:
        self.tried = {each.node: each for each in tried}
        self.folder, self.warehouse = folder, warehouse
        self.target = {
            "type": "paimon",
            "method": "session",
            "warehouse": str(warehouse),
            "schema": "tried",
            "threads": 2,
            "spark_config": {
                "spark.master": "local[2]",
                "spark.driver.memory": "3g",
                "spark.sql.shuffle.partitions": 2,
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
            },
        }
        folder.joinpath("models").mkdir()
        for each in tried:
            folder.joinpath("models", f"{each.node}.sql").write_text(each.sql())
        profile = {"tried": {"target": "here", "outputs": {"here": self.target}}}
        folder.joinpath("profiles.yml").write_text(yaml.safe_dump(profile))
        folder.joinpath("dbt_project.yml").write_text(yaml.safe_dump({"name": "tried", "profile": "tried"}))

    def run(self, batch: int) -> None:
        """Write a batch into every table that has no error yet, and record warnings and errors."""
        left = [each.node for each in self.tried.values() if not each.error]
        runner = dbtRunner(callbacks=[self._listen])
        places = ("--project-dir", "--profiles-dir", "--log-path", "--target-path")
        folders = (self.folder, self.folder, self.folder / "logs", self.folder / "target")
        where = [str(part) for pair in zip(places, folders, strict=True) for part in pair]
        result = runner.invoke(
            ["run", "--vars", json.dumps({"batch": batch}), "--log-level", "none", *where, "--select", *left]
        )
        if result.exception:
            raise result.exception
        for node in result.result.results:
            each = self.tried[node.node.name]
            each.seconds.append(node.execution_time)
            if node.status == "error":
                words = str(node.message)
                # Messages of the adapter have the node in quotes; dbt's own first line names the file instead.
                refused = f"'{each.node}': " in words
                each.error = f"{'refused' if refused else f'write {batch}'}: {_brief(words, each.node)}"

    def _listen(self, event: Any) -> None:
        if event.info.level != "warn":
            return
        for node in set(re.findall(r"model '(t\d{4})'", event.info.msg)):
            each = self.tried.get(node)
            if each and (each.name in event.info.msg or each.name.rpartition(".")[2] in event.info.msg):
                each.said = _brief(event.info.msg, node)

    def look(self) -> None:
        """Record the state of each table after both batches."""
        keys = {key: value for key, value in self.target.items() if key not in ("type", "threads")}
        session = open_session(Runtime(PaimonCredentials.from_dict(PaimonCredentials.translate_aliases(keys)))).session
        session.sql("use paimon")

        def look(each: Tried) -> None:
            try:
                each.found = _state(session, self.warehouse, each.node)
            except Exception as exc:  # noqa: BLE001 - the exception is the result
                each.error = f"read: {_brief(str(exc), each.node)}"

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(look, (each for each in self.tried.values() if not each.error)))


def _state(session: Any, warehouse: Path, node: str) -> dict[str, Any]:
    folder = warehouse / "tried.db" / node

    def rows(sql: str) -> list[list[Any]]:
        return sorted(([*row] for row in session.sql(sql).collect()), key=str)

    kinds = Counter(path.name.partition("-")[0] for path in folder.rglob("*-*") if path.is_file())
    snapshots = sorted(folder.glob("snapshot/snapshot-*"), key=lambda path: int(path.name.partition("-")[2]))
    first, last = (path.name.partition("-")[2] for path in (snapshots[0], snapshots[-1]))
    live = rows(f"select level, file_path, file_size_in_bytes from tried.`{node}$files`")
    return {
        "rows": rows(f"select * from tried.{node}"),
        "changes": rows(f"select * from paimon_incremental_query('tried.{node}', '{first}', '{last}')"),
        "commits": " ".join(json.loads(path.read_text())["commitKind"] for path in snapshots),
        "live files": len(live),
        "levels": " ".join(str(level) for level, *_ in live),
        "format": ", ".join(sorted({str(path).rpartition(".")[2] for _, path, _ in live})),
        **{f"{kind} files": kinds[kind] for kind in ("data", "changelog", "index", "tag")},
        "bytes": sum(size for *_, size in live),
    }


def _brief(text: str, node: str) -> str:
    lines = [line.strip() for line in text.replace(f"model '{node}': ", "").splitlines() if line.strip()]
    lines = [line for line in lines if not re.match(r"(Compilation|Runtime|Database) Error in model|> in macro", line)]
    return re.sub(r"\S*/(?:warehouse|models)/\S*|\bt\d{4}\b", "…", " ".join(lines[:2]))[:300]


def differences(one: Tried, other: Tried) -> list[str]:
    """How a table with an option differs from the table without it."""
    if one.error:
        return [one.error]
    if other.error:
        return [f"the table without the option: {other.error}"]
    differ = []
    for what, value in one.found.items():
        before = other.found[what]
        if what == "bytes":
            if not before / _BYTES < value < before * _BYTES:
                differ.append(f"bytes {before} -> {value}")
        elif value != before:
            shown = isinstance(value, list)
            differ.append(f"{what} {len(before) if shown else before} -> {len(value) if shown else value}")
    if sum(one.seconds) > _SLOWER * sum(other.seconds):
        differ.append(f"{sum(one.seconds) / sum(other.seconds):.0f} times the time")
    return differ


def findings(tried: list[Tried], warehouse: Path) -> list[dict[str, Any]]:
    """One entry per table with an option: dbt-paimon's warning, and the differences from the table without it."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), warehouse, tried)
        project.run(1)
        project.run(2)
        project.look()
    without = {each.baseline: each for each in tried if not each.name}
    return [
        {
            "option": each.name,
            "value": each.value,
            "table": each.shape,
            "said": each.said,
            "differs": differences(each, without[each.baseline]),
        }
        for each in tried
        if each.name
    ]


_PAGE: Final = """\
# Paimon's options, tried: Paimon {version}

`python scripts/options_tried.py` writes this page. It sets each option to some values, each in a table of its own,
writes two batches through dbt, reads the rows and the changes, and compares them with a table without the option:
commits, files, levels, bytes, rows, and errors. *keyed* has a primary key, *append* has none, and *altered* gets the
option before its second batch.

Tried so far: {options} options, in {tables} tables. Paimon {version} has {every}, in addition to those of the file
formats. {same} tables are the same as without the option, {refused} are refused before anything is written, and {said}
have a warning. The others do what the option is for:

{rows}

## Not tried

{untried}
"""


def page(version: str, found: list[dict[str, Any]], notes: Mapping[str, Any]) -> str:
    """The results as Markdown; a difference without a warning is listed with its reason, or as not explained."""
    others = [each for each in found if each["differs"] and not each["said"] and not _is_refused(each)]
    rows = ["| option | value | table | differs | why |", "|---|---|---|---|---|"]
    for each in others:
        # A failure is never the purpose of an option.
        fails = re.match(r"(write \d|read): ", each["differs"][0])
        why = "**not explained**" if fails else notes["expected"].get(each["option"], "**not explained**")
        cells = (f"`{each['option']}`", f"`{each['value']}`", each["table"], "; ".join(each["differs"]), why)
        rows.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return _PAGE.format(
        version=version,
        options=len({each["option"] for each in found}),
        every=len(table_options(version)),
        tables=len(found),
        same=sum(not each["differs"] for each in found),
        refused=sum(map(_is_refused, found)),
        said=sum(bool(each["said"]) for each in found),
        rows="\n".join(rows),
        untried="\n".join(f"- `{name}` {why}" for name, why in sorted(notes["untried"].items())),
    )


def _is_refused(each: Mapping[str, Any]) -> bool:
    return any(what.startswith("refused: ") for what in each["differs"])


def main() -> None:
    """Try the options, and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[""], help="options whose names contain one of these strings")
    only = parser.parse_args().only
    logging.disable(logging.CRITICAL)
    version = str(
        parse_version(
            packages.effective_paimon_version(PaimonCredentials(schema="any", paimon_version=DEFAULT_PAIMON_VERSION))
        )
    )
    path = RESULTS / f"paimon-{version}.json"
    notes = yaml.safe_load(EXPECTED.read_text())
    known = {(each["option"], each["value"], each["table"]): each for each in _read(path)}
    path.parent.mkdir(exist_ok=True)
    # All groups share a warehouse, because Spark stays up in this process with its catalog.
    with tempfile.TemporaryDirectory() as warehouse:
        for group in groups(version, notes, only):
            for each in findings(group, Path(warehouse)):
                known[each["option"], each["value"], each["table"]] = each
            # Write after each group, so that an interrupted run keeps its results.
            _write(path, version, [known[key] for key in sorted(known)], notes)
    _write(path, version, [known[key] for key in sorted(known)], notes)


def _write(path: Path, version: str, found: list[dict[str, Any]], notes: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n")
    path.with_suffix(".md").write_text(page(version, found, notes))


def _read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    return found


if __name__ == "__main__":
    main()

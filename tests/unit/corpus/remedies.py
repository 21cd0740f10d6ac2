"""Applies the remedy in an error message to the config, as a user would.

`_FORMS` parses remedies that list words or give a sample. The changes for all others are written out in remedies.yml.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

import yaml
from tests.unit.corpus import FOLDER, MODEL, Case

from dbt.adapters.paimon.spec.problems import ConfigErrors

# The key and the value that a message names.
_WHERE: Final = re.compile(r"((?:spark_config: )?[\w.'\[\]-]+(?:=(?:\{.*?\}|\[.*?\]|'.*?'|[^:{\['][^:]*?))?): ")

Patch = Mapping[str, Any]

# A remedy is the end of a message, from the first sentence that begins with one of these words.
_BEGIN: Final = re.compile(
    r"(?:^|(?<=[.] ))(?:Add|Allowed|Cast|Did you mean|Give|Join|Keep|Known|Leave|List|Make|Name|Put|Remove|Rename"
    r"|Set|Use|Write|Its columns)\b"
)


def problem_of(case: Case) -> str:
    """The error for a config, without the model, the key and the value; '' if the config passes."""
    try:
        case.plan()
    except ConfigErrors as errors:
        return errors.problems[0].removeprefix(f"model '{MODEL}': ").removeprefix(f"{case.where}: ")
    return ""


def remedy_of(problem: str) -> str:
    """The sentences of an error that say what to do."""
    found = _BEGIN.search(problem)
    return problem[found.start() :] if found else problem


def typed(case: Case) -> list[Case]:
    """The config after each alternative of its remedy; an empty list if remedies.yml lacks the remedy."""
    problem = problem_of(case)
    remedy = remedy_of(problem)
    patches = _by_hand().get(remedy) or _read(problem, remedy)
    said = f"{case.where}: {problem}"
    return [patched(case, patch) for patch in patches if patch.get("$for", "") in said]


def is_choice(case: Case) -> bool:
    """Whether the remedy is a list of names, some of which do not fit this config."""
    return re.match(r"Known|Its columns", remedy_of(problem_of(case))) is not None


def still_wrong(before: Case, after: Case, steps: int = 3) -> str:
    """The error that is left after a remedy; '' if the config is valid.

    A remedy may uncover another mistake. Its remedy is then applied too, and must keep the changes of the first remedy.
    """
    problem = problem_of(replace(after, where=""))
    if not problem:
        return ""
    where = _WHERE.match(problem)
    assert where, problem
    again = replace(after, where=where[1])
    asked = _leaves(after.config).items() - _leaves(before.config).items()
    # A user who cannot upgrade Paimon may undo the first remedy.
    undone = "needs Paimon >=" in problem
    if steps and problem_of(again) != problem_of(before):
        for further in typed(again):
            kept = undone or asked <= _leaves(further.config).items()
            if kept and not still_wrong(again, further, steps - 1):
                return ""
    return problem


def _leaves(config: Mapping[str, Any], above: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in config.items():
        found |= _leaves(value, f"{above}{key}/") if isinstance(value, dict) else {f"{above}{key}": str(value)}
    return found


@cache
def _by_hand() -> Mapping[str, list[Patch]]:
    loaded: dict[str, list[Patch]] = yaml.safe_load((FOLDER / "remedies.yml").read_text("utf-8"))
    return loaded


def _read(problem: str, remedy: str) -> list[Patch]:
    for form, patches in _FORMS.items():
        match = re.fullmatch(form, remedy)
        if match:
            key = "$rename" if re.match(r"unknown (?!strategy|aggregate function)", problem) else "$it"
            key = "$column" if "no column '" in problem else key
            level = "0:" if problem.startswith("level 0: ") else ""
            return [{key: level + value if level else value} for value in patches(match[1])]
    return []


def _words(text: str) -> list[str]:
    return [word.strip("' ") for word in re.split(r", | or ", text)]


def _sample(text: str) -> list[Any]:
    return [ast.literal_eval(text.replace("true", "True").replace("false", "False"))]


_FORMS: Final[Mapping[str, Callable[[str], list[Any]]]] = {
    r"Did you mean '([^']+)'\?.*": lambda name: [name],
    r"(?:Allowed|Use one of|Known):? (?!fields\.<)(.*?)(?: \(.*)?\.": _words,
    r"Its columns: (.*)\.": _words,
    r"Write it as in (.*?)(?:, with any of .*)?\.": _sample,
    r"Remove it(?:[,;:] .*)?(\.)": lambda _: [None],
    r"Use (\d+) or (?:more|less)\.": lambda number: [int(number)],
}


def patched(case: Case, patch: Patch) -> Case:
    """The case after a remedy.

    Args:
        case: a bad config.
        patch: config keys to set, or to remove (null). `$it` replaces the value that the message names, `$rename` its
            key, and `$column` a column's name. `$columns`, `$contract`, `$version` and `$catalog` change the case.
    """
    config = copy.deepcopy(dict(case.config))
    contract = dict.fromkeys(case.contract.get("columns", {}), "string")
    columns = {**(contract or dict(case.columns)), **patch.get("$columns", {})}
    *parents, last = _path(case)
    if "$rename" in patch:
        value = _value(case)
        _set(config, (*parents, last), None)
        prefix = last.rpartition(".")[0] + "." if "attribute" in problem_of(case) else ""
        _set(config, (*parents, prefix + patch["$rename"]), value)
    if "$it" in patch:
        _set(config, (*parents, last), patch["$it"])
    if "$column" in patch:
        config = _other_column(case, patch["$column"])
    for key, value in patch.items():
        if not key.startswith("$"):
            _set(config, (key,), value)
    return replace(
        case,
        config=config,
        columns=tuple((name, kind) for name, kind in columns.items() if kind),
        contract=patch.get("$contract", case.contract),
        version=str(patch.get("$version", case.version)),
        catalog=patch.get("$catalog", case.catalog),
    )


def _other_column(case: Case, name: str) -> dict[str, Any]:
    """The config with this name in place of the column that the query does not have."""
    wrong = re.search(r"(?:has|is) no column '(.*?)'", problem_of(case))
    assert wrong, case
    written = re.sub(rf"\b{re.escape(wrong[1])}\b", name, json.dumps(case.config))
    renamed: dict[str, Any] = json.loads(written)
    return renamed


def _set(config: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for parent in parents:
        config = config.setdefault(parent, {})
    if value is None:
        config.pop(last, None)
    elif isinstance(value, dict) and isinstance(config.get(last), dict):
        for key, inner in value.items():
            _set(config[last], (key,), inner)
    else:
        config[last] = value


def _value(case: Case) -> Any:
    inner: Any = case.config
    for part in _path(case):
        inner = inner[part]
    return inner


def _path(case: Case) -> tuple[str, ...]:
    """The path to the key that the message names."""
    inside = re.match(r"tblproperties\['(.*?)'\]|spark_config: ([\w.-]+)", case.where)
    if inside:
        return ("tblproperties", inside[1]) if inside[1] else ("spark_config", inside[2])
    name = case.where.partition("=")[0]
    if name in case.config:
        return (name,)
    found: list[str] = []
    inner: Mapping[str, Any] = case.config
    for part in name.split("."):
        # A message may name the option instead of the key: aggregate-function for aggregate_function.
        key = next((key for key in inner if key.replace("_", "-") == part.replace("_", "-")), part)
        found.append(key)
        within = inner.get(key)
        inner = within if isinstance(within, Mapping) else {}
    return tuple(found)

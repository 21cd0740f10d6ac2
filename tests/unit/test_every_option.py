"""Every option at every version: valid values pass; wrong values, names or versions cause an error with a remedy."""

from __future__ import annotations

import re

import pytest

from dbt.adapters.paimon.options.table_options import (
    RESERVED_PROPERTIES,
    OptionDefinition,
    lookup,
    option_fault,
    table_options,
)

VERSIONS = ("0.9.0", "1.0.1", "1.1.1", "1.2.0", "1.3.2", "1.4.2", "2.0.0")
# Options that have their own config key, or that Flink or the catalog sets.
ELSEWHERE = {"auto-create", *RESERVED_PROPERTIES}

RIGHT = {
    "Integer": (8, "8"),
    "Long": (2_000_000, "2000000"),
    "Boolean": (True, "false", "TRUE"),
    "Float": (0.75, "0.75"),
    "Double": (0.05, "1e-3"),
    "Duration": ("1 h", "30min", "7 days", 60_000),
    "MemorySize": ("128 mb", "1 GB", 1024),
    "Map": ({}, {"0": "zstd"}),
    "String": ("text",),
}
WRONG = {
    "Integer": ("many", "1.5", "", True, {"a": 1}),
    "Long": ("many", "1.5", "", 2**63),
    "Boolean": ("yes", 1, "", "t"),
    "Float": ("much", ""),
    "Double": ("much", ""),
    "Duration": ("a while", "1 fortnight", "", "-1 h"),
    "MemorySize": ("large", "1 pb", "", "-1 mb"),
    "Map": ("a", "a:b:c"),
    "Enum": ("no such word", ""),
    "String": ({"a": 1},),
}
REMEDY = re.compile(r"\b(Write|Allowed|Use|Did you mean|Remove|Set|Put)\b")

# Options of type String that accept only some strings.
TEXTS = {
    "file.format": "orc",
    "changelog-file.format": "orc",
    "manifest.format": "orc",
    "metadata.stats-mode": "full",
    "changelog-file.stats-mode": "full",
    "spill-compression": "lz4",
    "lookup.cache-spill-compression": "lz4",
    "fields.default-aggregate-function": "sum",
    "metadata.stats-mode.per.level": {"0": "none"},
    "file.format.per.level": {"0": "avro"},
}


def every():
    return [
        pytest.param(version, definition, id=f"{version} {name}")
        for version in VERSIONS
        for name, definition in table_options(version).items()
        if name not in ELSEWHERE
    ]


@pytest.mark.parametrize(("version", "option"), every())
def test_right_and_wrong_values(version: str, option: OptionDefinition):
    right = option.values if option.type == "Enum" else RIGHT[option.type]
    for value in (TEXTS[option.name],) if option.name in TEXTS else right:
        assert option_fault(option.name, value, version) is None, value
    for value in WRONG[option.type]:
        problem = option_fault(option.name, value, version)
        assert REMEDY.search(problem), problem


def camel(name: str) -> str:
    head, *rest = re.split(r"[-.]", name)
    return head + "".join(part.capitalize() for part in rest)


@pytest.mark.parametrize(("version", "option"), every())
def test_other_spellings(version: str, option: OptionDefinition):
    for spelling in (option.name.replace("-", "_").replace(".", "_"), camel(option.name), f"{option.name}s"):
        if lookup(spelling, version) or spelling.startswith("fields."):
            continue
        problem = option_fault(spelling, "1", version)
        assert "Did you mean '" in problem, problem
        if not spelling.endswith("s"):
            # Two options may differ by a separator only.
            assert re.sub(r"[^a-z]", "", option.name) in re.sub(r"[^a-z]", "", problem), problem


def test_an_older_paimon_is_named():
    newest = table_options("2.0.0")
    for version in ("0.9.0", "1.4.2"):
        missing = [name for name in newest if name not in table_options(version)]
        assert missing
        for name in missing:
            problem = option_fault(name, "1", version)
            named = rf"needs Paimon >= (1\.[0-4]|2\.0), this is {re.escape(version)}"
            assert "only Flink" in problem or re.search(rf"{named}|the catalog decides|always", problem), problem
            assert "paimon_version" in problem or "Remove it" in problem

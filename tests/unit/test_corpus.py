"""Every invalid config of the corpus is refused with one message, every valid one passes; no SQL, no JVM."""

from __future__ import annotations

import re

import pytest
from dbt_common.exceptions import DbtRuntimeError
from tests.unit import corpus
from tests.unit.corpus import MODEL, Case
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.tables.changeset import compute_changeset, refuse_rebuild
from dbt.adapters.paimon.tables.existing import ExistingTable

BAD, GOOD, CHANGES = corpus.bad(), corpus.good(), corpus.changes()

# The words that a remedy begins with.
REMEDY = re.compile(
    r"\b(Add|Allowed|Cast|Did you mean|Drop|Give|Join|Keep|Known|Leave|List|Make|Name|Put|Remove|Rename|Run|Set|Use|Write"
    r"|Its columns)\b"
)


def test_size():
    assert len(BAD) + len(CHANGES) >= 300 and len({(c.version, str(c.config), c.where) for c in BAD}) == len(BAD)
    assert len(GOOD) >= 150 and len({(c.version, str(c.config), str(c.columns)) for c in GOOD}) == len(GOOD)


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.id)
def test_bad(case: Case):
    with pytest.raises(ConfigErrors) as raised:
        case.plan()
    (message,) = raised.value.problems
    begin = f"model '{MODEL}': {case.where}: "
    assert message.startswith(begin), message
    said = message.removeprefix(begin)
    assert case.reason and case.reason in said
    assert case.remedy and case.remedy in said
    assert REMEDY.search(said), f"no remedy in: {said}"


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.id)
def test_good(case: Case):
    case.plan()


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change["said"]))
def test_change_of_an_existing_table(change):
    """The error names the property, its old and new value, and the remedies."""
    versions = Versions.of(change.get("version", "0.9.0"))
    spec = table_spec(change["config"], model=MODEL, versions=versions)
    table = change.get("table", {})
    existing = ExistingTable(
        tuple(table.get("primary_key", ())), tuple(table.get("partition_by", ())), table.get("options", {})
    )
    with pytest.raises(DbtRuntimeError) as raised:
        refuse_rebuild("model", MODEL, compute_changeset(spec, existing, versions))
    message = str(raised.value)
    assert f"model '{MODEL}': " in message
    assert change["said"] in message
    assert "Run it once with --full-refresh" in message and "revert the config" in message.lower()

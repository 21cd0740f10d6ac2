"""OpenLineage gets a project's events, with the page's extra target and with its patch: docs/tools/openlineage.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.tools import pages
from integration.tools.environments import Environment
from integration.tools.patches import patched
from integration.tools.shop import assert_built

pytestmark = pytest.mark.full

PAGE = "openlineage.md"
# The output and the inputs of each model's job.
LINEAGE = {
    ("paimon.shop.orders", ()),
    ("paimon.shop.revenue", ("paimon.shop.orders",)),
    ("paimon.shop.large_orders", ("paimon.shop.orders",)),
}
INSTALL, BUILD, SEND = pages.commands(PAGE)


def lineage(project: Path) -> tuple[set[tuple[str, tuple[str, ...]]], set[str]]:
    """The outputs with their inputs, and the namespaces of all, in the events of completed models."""
    edges, namespaces = set(), set()
    for line in (project / "events.json").read_text().splitlines():
        event: dict[str, Any] = json.loads(line)
        if event["eventType"] != "COMPLETE" or not event.get("outputs"):
            continue
        (output,) = event["outputs"]
        # With structured logs, data tests also have outputs, which are in a schema of this name.
        if "dbt_test__audit" in output["name"]:
            continue
        edges.add((output["name"], tuple(each["name"] for each in event["inputs"])))
        namespaces |= {each["namespace"] for each in (output, *event["inputs"])}
    return edges, namespaces


def test_a_target_of_its_own(
    installed: Callable[[str, str], Environment], shop: Path, ran_with: Callable[..., None]
) -> None:
    environment = installed("openlineage", INSTALL)
    pages.write(shop, PAGE)
    profiles = yaml.safe_load((shop / "profiles.yml").read_text())
    (fragment,) = (yaml.safe_load(block) for block in pages.blocks(PAGE, "yaml") if block.startswith("shop:"))
    profiles["shop"]["outputs"] |= fragment["shop"]["outputs"]
    (shop / "profiles.yml").write_text(yaml.safe_dump(profiles))
    environment.run(BUILD, shop)
    environment.run(SEND, shop)
    assert lineage(shop) == (LINEAGE, {"spark://lake:10000"})
    ran_with("openlineage", environment, "openlineage-dbt", "dbt-core")


def test_the_patch(wheel: Path, shop: Path, tmp_path: Path) -> None:
    environment = patched(PAGE, INSTALL, wheel, tmp_path / "patched")
    pages.write(shop, PAGE)
    environment.run("dbt-ol build", shop)
    assert lineage(shop) == (LINEAGE, {str(tmp_path / "warehouse")})
    assert_built(environment, shop)

    (shop / "events.json").unlink()
    environment.run("dbt-ol --consume-structured-logs build", shop)
    assert lineage(shop) == (LINEAGE, {str(tmp_path / "warehouse")})

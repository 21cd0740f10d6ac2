"""Which nodes an environment builds: those that a change affects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.plan.api import MATERIALIZED_VIEW
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH
from dbt_paimon.env.project import Project, dbt

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

    from dbt_paimon.env.journal import Place

_KINDS: Final = ("model", "seed", "snapshot")
_READS_CHANGES: Final = ".paimon_changes"


def modified_nodes(project: Project, state: str) -> list[str]:
    """The unique ids of the models, seeds and snapshots that differ from production's manifest, or read such a node.

    Args:
        state: the folder of production's manifest.
    """
    kinds = [word for kind in _KINDS for word in ("--resource-type", kind)]
    chosen = ["--select", "state:modified+", "--state", state, *kinds]
    ids = ["--output", "json", "--output-keys", "unique_id", "--log-level", "none", "--no-write-json"]
    found = dbt(["ls", *project.in_production(), *chosen, *ids]).result
    return [json.loads(line)["unique_id"] for line in found or ()]


def reason_not_built(node: Any) -> str:
    """Why an environment cannot build a node of the manifest and promote its rows; '' if it can."""
    kind = str(node.config.materialized)
    strategy = str(node.config.get("incremental_strategy") or "")
    if kind == "snapshot":
        return "a snapshot in an environment would begin without its history"
    if kind == "streaming":
        return "a stream would begin with a checkpoint of its own"
    if kind in (MATERIALIZED_VIEW, "dynamic_table"):
        return "a refresh depends on what the view has read so far"
    if strategy == APPLY_CHANGES:
        return f"{strategy} keeps the deletes in a second table"
    if strategy == MICROBATCH:
        return "dbt writes it in batches, and not in one commit"
    if any(name.endswith(_READS_CHANGES) for name in node.depends_on.macros):
        return "paimon_changes reads on from the model's own last run"
    return ""


def has_relation(node: Any) -> bool:
    """Whether a node of the manifest has a table or view."""
    return str(node.resource_type) in _KINDS and str(node.config.materialized) != "ephemeral"


def place_of(node: Any) -> Place:
    """Catalog, schema and name of a node of the manifest."""
    return (str(node.database), str(node.schema), str(node.alias))


def places_in_state(state: str) -> dict[str, Place]:
    """Unique id -> place, from production's manifest.json. Raises DbtRuntimeError if it cannot be read."""
    path = Path(state, "manifest.json")
    try:
        nodes: Mapping[str, Any] = json.loads(path.read_text("utf-8"))["nodes"]
    except (OSError, ValueError, KeyError) as exc:
        raise DbtRuntimeError(
            f"env create: {path} cannot be read as a manifest of dbt ({exc!r}). Give the folder of the manifest.json "
            "that production's last run wrote: --state production"
        ) from exc
    return {
        key: (str(node["database"]), str(node["schema"]), str(node["alias"]))
        for key, node in nodes.items()
        if node["resource_type"] in _KINDS
    }


def refuse_other_target(known: Mapping[str, Place], here: Manifest, modified: Iterable[str]) -> None:
    """Refuse a production target whose unaffected nodes have other names than in production's manifest."""
    unaffected = known.keys() - set(modified)
    for key in sorted(unaffected):
        node: Any = here.nodes.get(key)
        if node is not None and has_relation(node) and place_of(node) != known[key]:
            raise DbtRuntimeError(
                f"env create: in the manifest of --state, {node.name} is {'.'.join(known[key])}, but in this target "
                f"it is {'.'.join(place_of(node))}. Choose production's target (--target), or give this one's manifest."
            )


def refuse_same_relation(here: Mapping[str, Place], production: Mapping[str, Place], modified: Iterable[str]) -> None:
    """Refuse an environment in which a node would be built in production's own relation."""
    if same := sorted(key for key in modified if here[key] == production[key]):
        place = ".".join(here[same[0]])
        raise DbtRuntimeError(
            f"env create: {same[0]} would be built as {place}, which is production's. Its schema does not depend on "
            "the target's: let generate_schema_name use target.schema, or leave out a fixed schema. Nothing was done."
        )

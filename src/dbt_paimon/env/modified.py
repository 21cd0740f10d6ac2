"""Selects the nodes that an environment builds: changed nodes and everything that reads them (`state:modified+`).

`dbt-paimon build --affected` selects fewer readers, because it follows columns (see `dbt_paimon.lineage`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.plan.api import MATERIALIZED_VIEW
from dbt.adapters.paimon.spec.build import collect_table_spec
from dbt.adapters.paimon.spec.declared import Declared
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET
from dbt_paimon import commands
from dbt_paimon.env.project import Project

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt_paimon.env.journal import Place

_KINDS: Final = ("model", "seed", "snapshot")
_READS_CHANGES: Final = re.compile(r"\bpaimon_changes\b")
# A statement and the table that it writes, or dbt-paimon's macro `delete_rows`.
_WRITES_ROWS: Final = re.compile(
    r"\b(insert\s+(?:into|overwrite)|update|delete\s+from|merge\s+into|truncate)\s+(?:table\s+)?"
    r"((?:\{\{.*?\}\}|[^\s(])+)|\b(delete_rows)\b",
    re.IGNORECASE | re.DOTALL,
)
# A table whose name only Jinja knows, or a string that ends before the name.
_UNKNOWN_TABLE: Final = re.compile(r"['\"].*|\{\{(?!.*\b(?:ref|source)\b)[^}]*\}\}", re.DOTALL)
_COMMENT: Final = re.compile(r"\{#.*?#\}", re.DOTALL)


def modified_nodes(project: Project, state: str) -> list[str]:
    """The unique ids of the models, seeds and snapshots that dbt selects with `state:modified+`.

    Args:
        state: the folder of production's manifest.json.
    """
    kinds = [word for kind in _KINDS for word in ("--resource-type", kind)]
    chosen = ["--select", "state:modified+", "--state", state, *kinds]
    return [node["unique_id"] for node in commands.listed([*project.in_production(), *chosen], "unique_id")]


def reason_not_built(node: Any, code: Sequence[tuple[str, str]]) -> str:
    """Why an environment cannot build a node and promote its rows; '' if it can. `code`: see `lineage.macros.code`."""
    kind = str(node.config.materialized)
    strategy = str(node.config.get("incremental_strategy") or "")
    if kind == "snapshot":
        return "a snapshot in an environment would lack production's history"
    if kind == "streaming":
        return "a stream in an environment would start with an empty checkpoint"
    if kind in (MATERIALIZED_VIEW, "dynamic_table"):
        return "its refresh depends on what production's view has already read"
    if strategy == APPLY_CHANGES:
        return f"{strategy} keeps deletes in a second table, which a promotion does not publish"
    if strategy == MICROBATCH:
        return "dbt writes a microbatch model in several commits"
    if any(_READS_CHANGES.search(text) for _, text in code):
        return "paimon_changes reads only the changes since the model's last run"
    if kind not in ("view", "seed") and (word := _written_by_hooks(node, code)):
        return f"its hooks may write rows ({word}), and would write them again at the promotion"
    return ""


def _written_by_hooks(node: Any, code: Sequence[tuple[str, str]]) -> str:
    """The statement with which a node's hooks, or the project's macros that they call, may write its rows; or ''.

    A promotion copies rows that the hooks have already changed, and runs the hooks again.
    """
    # Imported here, because importing sqlglot takes a second.
    from dbt_paimon.lineage import macros

    hooks = (hook.sql for name in ("pre_hook", "post_hook") for hook in getattr(node.config, name, ()))
    texts = dict.fromkeys(_COMMENT.sub("", text) for text in hooks)
    waiting = list(texts)
    while waiting:
        called = macros.words(waiting.pop())
        more = [text for name, text in code if macros.call_names(name) & called and text not in texts]
        texts |= dict.fromkeys(more)
        waiting += more
    own = re.compile(rf"\b(?:this|{re.escape(node.alias)})\b")
    for statement, table, macro in (found for text in texts for found in _WRITES_ROWS.findall(text)):
        if macro or own.search(table) or _UNKNOWN_TABLE.fullmatch(table):
            return str(macro or statement)
    return ""


def hidden_rows(adapter: PaimonAdapter, node: Any) -> str:
    """Why a promotion would lose rows that still wait for a compaction; '' if it would not.

    Args:
        adapter: of production.
        node: as in production's target.
    """
    if str(node.config.materialized) == "view":
        return ""
    # The build reports the problems of the config.
    specs = [collect_table_spec(Declared.of(node.to_dict(omit_none=True)), adapter.versions, Problems(node.name))]
    existing = adapter.get_relation(*place_of(node))
    # The table may have options that the config lacks, such as the catalog's `table-default.`.
    if existing is not None and existing.is_table:
        specs.append(adapter.tables.existing(existing).as_spec())
    # Other programs write into postpone buckets, whatever dbt's own runs do. A `table` model replaces such rows anyway.
    adds = str(node.config.materialized) == "incremental"
    options = (
        spec.hides_new_rows or ("bucket=-2" if adds and spec.bucket == POSTPONE_BUCKET else "") for spec in specs
    )
    option = next(filter(None, options), "")
    return option and f"a promotion would lose rows that wait for a compaction ({option})"


def has_relation(node: Any) -> bool:
    """Whether a node is stored as a table or view."""
    return str(node.resource_type) in _KINDS and str(node.config.materialized) != "ephemeral"


def place_of(node: Any) -> Place:
    """The catalog, schema and name of a node's relation."""
    return (str(node.database), str(node.schema), str(node.alias))


def places_in_state(state: str) -> dict[str, Place]:
    """The place of each node in production's manifest.json, by unique id. Raises DbtRuntimeError if unreadable."""
    path = Path(state, "manifest.json")
    try:
        nodes: Mapping[str, Any] = json.loads(path.read_text("utf-8"))["nodes"]
    except (OSError, ValueError, KeyError) as exc:
        raise DbtRuntimeError(
            f"env create: {path} cannot be read as a manifest ({exc!r}). Pass the folder with the manifest.json "
            "of production's last run: --state production"
        ) from exc
    return {
        key: (str(node["database"]), str(node["schema"]), str(node["alias"]))
        for key, node in nodes.items()
        if node["resource_type"] in _KINDS
    }


def refuse_other_target(known: Mapping[str, Place], here: Manifest, modified: Iterable[str]) -> None:
    """Refuse a production target in which unmodified nodes have different names than in production's manifest."""
    unmodified = known.keys() - set(modified)
    for key in sorted(unmodified):
        node: Any = here.nodes.get(key)
        if node is not None and has_relation(node) and place_of(node) != known[key]:
            raise DbtRuntimeError(
                f"env create: {node.name} is {'.'.join(known[key])} in the manifest of --state, but "
                f"{'.'.join(place_of(node))} in this target. Set --target to production's target, or --state to a "
                "manifest of this target."
            )


def refuse_same_relation(here: Mapping[str, Place], production: Mapping[str, Place], modified: Iterable[str]) -> None:
    """Refuse an environment that would overwrite a relation of production."""
    if same := sorted(key for key in modified if here[key] == production[key]):
        place = ".".join(here[same[0]])
        raise DbtRuntimeError(
            f"env create: {same[0]} would be built as {place}, which is production's relation, because its schema "
            "does not depend on the target's. Make generate_schema_name use target.schema, or remove the fixed schema. "
            "Nothing was done."
        )

"""Branch clones: their names, their views, and tables that cannot have one. Runs no statement.

With `clone_by: branch` in the target, `dbt clone` makes a branch of the original table, which shares its data files,
and a view over it with the model's name. The view's stored query distinguishes it from a user's view.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from dbt.adapters.contracts.relation import RelationType

from dbt.adapters.paimon.metadata.tags import Refs
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.components import iceberg
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET, TableSpec
from dbt.adapters.paimon.sql import names
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.time_travel import audits, branches
from dbt.adapters.paimon.time_travel.states import branch_of

BY_BRANCH: Final = "branch"
# In the middle of the query: Spark drops comments before and after it.
_MARK: Final = "/* made by dbt clone */"
_NAME: Final = r"`((?:[^`]|``)+)`"
_QUERY: Final = re.compile(rf"select {re.escape(_MARK)} \* from {_NAME}\.{_NAME}\.{_NAME}")
_IN_A_NAME: Final = "$branch_"
# Leaves room for the prefixes of Paimon and of the tag.
_LONGEST: Final = 200
_FOREIGN: Final = re.compile(r"[/:,$\x00-\x1f]")
# Options with which any commit, also to a branch, has effects outside of the table.
_ACTING_OUTSIDE: Final = (
    "metastore.partitioned-table",
    "metastore.tag-to-partition",
    "tag.to-partition",
    "commit.callbacks",
    "tag.callbacks",
)
# A tag without its own retention gets the table's default, and the branch's files would expire with it.
DEFAULT_RETENTION: Final = "tag.default-time-retained"
KEPT: Final = "36500 d"


@dataclass(frozen=True)
class Clone:
    """A model's branch clone; `rebuild`: why this run builds a table in its place, or '' if it writes to the branch."""

    branch: PaimonRelation
    rebuild: str = ""


def branch_name(schema: str) -> str:
    """The name of the branches of a schema's clones: the schema's name, made valid for a branch."""
    name = _FOREIGN.sub("_", schema).strip()
    if names.branch_problem(name) or name == audits.BRANCH:
        name = f"schema_{name}"
    if len(name.encode()) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name.encode()[: _LONGEST - 9].decode(errors='ignore')}_{digest}"


def tag_name(branch: str) -> str:
    """The tag where a branch starts, named as by the macro `create_branch`."""
    return f"branch_{branch}"


def query(branch: PaimonRelation) -> str:
    """The query of the view over a branch."""
    return f"select {_MARK} * from {quoted(*branch.parts)}"


def branch_in(text: str, schema: str) -> PaimonRelation | None:
    """The branch that a view's stored query reads, if `dbt clone` made the view in this schema; else None."""
    found = _QUERY.fullmatch(" ".join(text.split()))
    if found is None:
        return None
    database, original, identifier = (part.replace("``", "`") for part in found.groups())
    table, _, branch = identifier.partition(_IN_A_NAME)
    if not table or branch != branch_name(schema):
        return None
    relation = PaimonRelation.create(database=database, schema=original, identifier=table, type=RelationType.Table)
    return branch_of(relation, branch)


def table_of(branch: PaimonRelation) -> PaimonRelation:
    """The table of a branch; a table itself."""
    table, _, _ = (branch.identifier or "").partition(_IN_A_NAME)
    relation: PaimonRelation = branch.replace_path(identifier=table)
    return relation


def name_of(branch: PaimonRelation) -> str:
    """The name of a branch."""
    return (branch.identifier or "").partition(_IN_A_NAME)[2]


def unsuited(spec: TableSpec, strategy: str) -> str:
    """Why a model cannot write to a branch of its table; '' if it can.

    Args:
        spec: the table of the model's config, or the existing one.
        strategy: the model's strategy; '' to check the table alone.
    """
    if strategy == APPLY_CHANGES:
        return f"{strategy} keeps the deletes in a table beside its own"
    if strategy == MICROBATCH:
        return "dbt takes a view for a model without rows, and would run all batches"
    if spec.bucket == POSTPONE_BUCKET:
        return "rows of postpone buckets cannot be read before they are compacted"
    if iceberg.is_on(spec):
        return "a branch's commits would write the table's Iceberg metadata"
    if branches.named(spec):
        return "the table's options name a branch"
    acting = [name for name in _ACTING_OUTSIDE if spec.options.get(name, "false").lower() != "false"]
    return f"its commits act outside of the table ({', '.join(acting)})" if acting else ""


def missing(view: object, branch: PaimonRelation, refs: Refs, branch_tags: Collection[str] | None) -> str:
    """The error message about a clone whose branch or tag was lost; '' if both exist.

    Args:
        refs: the branches and tags of the table; empty if there is no such table.
        branch_tags: the names of the branch's own tags; None if there is no such branch.
    """
    tag = tag_name(name_of(branch))
    if name_of(branch) not in refs.branches or branch_tags is None:
        why = f"{table_of(branch)} has no branch {name_of(branch)}: it was dropped or recreated"
    elif tag in branch_tags and tag not in refs.tags:
        why = f"{table_of(branch)} has no tag {tag}: it was rolled back, with files that the branch needs"
    else:
        return ""
    return (
        f"{view} is a clone of a table that has changed since: {why}. Clone it again: `dbt clone --full-refresh`, with "
        "the --select and --state of before."
    )


def occupied(view: object, branch: PaimonRelation) -> str:
    """The error message about a branch with commits in the place of a new clone."""
    name, table = name_of(branch), table_of(branch)
    return (
        f"{view} cannot be cloned: {table} has a branch {name} with commits of its own already. If nothing needs them, "
        "clone with --full-refresh, which replaces it, or delete it: dbt run-operation delete_branch --args "
        f"'{{relation: {table.schema}.{table.identifier}, branch: {name}}}'"
    )


def retention(options: Mapping[str, str]) -> str | None:
    """The retention of a branch's tag; None if Paimon keeps tags by default."""
    return KEPT if DEFAULT_RETENTION in options else None

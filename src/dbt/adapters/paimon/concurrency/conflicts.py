"""Statements that another writer came before: what that looks like, and which of them may be sent again.

At its commit Paimon looks whether the files that a statement replaces are still there (FileStoreCommitImpl,
noConflictsOrFail). If not, nothing of it was written; but a statement whose writers compact as they go commits twice,
its rows first, and it may be the second commit that failed. So only that is repeated which done twice is as done once.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Seconds between attempts; each is stretched by up to a half, so that two that met do not meet again.
BACK_OFF: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

# Source: FileStoreCommitImpl.createConflictException, tryCommit (from 1.0); PaimonCommand.createNewRelation, as MERGE,
# UPDATE and DELETE look at a table's files twice; FileUtils for a file that was expired under a reader's feet.
SIGNS: Final = re.compile(
    r"conflicts detected! Give up committing|Commit failed after \d+ millis with \d+ retries"
    r"|RuntimeException: Missing file: |snapshot expires too fast"
)

# What INSERT does to a key that is there, where doing it again changes nothing.
_IDEMPOTENT_ENGINES: Final = frozenset({"deduplicate", "first-row", "partial-update"})
# Source: the aggregators of org.apache.paimon.mergetree.compact.aggregate; the others count or collect.
_IDEMPOTENT_AGGREGATES: Final = frozenset(
    {
        *("max", "min", "bool_and", "bool_or", "last_value", "last_non_null_value"),
        *(
            "first_value",
            "first_non_null_value",
            "primary-key",
            "hll_sketch",
            "theta_sketch",
            "rbm32",
            "rbm64",
        ),
    }
)

# Statements by what they are: the strategies of an incremental model, and what the other materializations write.
REBUILD: Final = "rebuild"
SNAPSHOT: Final = "snapshot"
_BY_KIND: Final[Mapping[str, bool]] = MappingProxyType(
    {
        REBUILD: True,  # INSERT OVERWRITE
        SNAPSHOT: True,  # MERGE by dbt_scd_id
        "merge": True,  # by unique_key
        "delete+insert": True,
        "insert_overwrite": True,
        "microbatch": True,
        "apply_changes": True,  # as upsert on deduplicate
        "append": False,  # the rows would be there twice
    }
)
_PROCEDURES: Final = re.compile(
    r"^\s*(?:/\*.*?\*/\s*)*call\s+\S*\bsys`?\.`?(?:compact|expire_snapshots|expire_partitions|remove_orphan_files)\b",
    re.IGNORECASE | re.DOTALL,
)


def is_conflict(text: str) -> bool:
    """Whether an error of Spark, with all its causes, says that another writer was faster."""
    return SIGNS.search(text) is not None


def may_repeat(kind: str, merge_engine: str, options: Mapping[str, str]) -> bool:
    """Whether a statement may be sent again after a conflict.

    Args:
        kind: a strategy, REBUILD or SNAPSHOT; one that is not known here may not.
        merge_engine: that of the table it writes; empty without a primary key.
        options: of the table, by Paimon's names.
    """
    if kind in ("upsert", "partial_update"):
        return _upserts_alike(merge_engine, options)
    return _BY_KIND.get(kind, False)


def may_repeat_procedure(sql: str) -> bool:
    """Whether a statement is a CALL of a procedure that may be sent again: one that only tidies up."""
    return _PROCEDURES.match(sql) is not None


def pause(seconds: float) -> float:
    """A time of BACK_OFF, stretched by chance."""
    return seconds * (1 + random.random() / 2)  # noqa: S311 - no secret hangs on it


def _upserts_alike(merge_engine: str, options: Mapping[str, str]) -> bool:
    if merge_engine not in (*_IDEMPOTENT_ENGINES, "aggregation"):
        return False
    aggregates = {value for name, value in options.items() if name.endswith("aggregate-function")}
    return aggregates <= _IDEMPOTENT_AGGREGATES

"""Checks names of schemas, tables, columns, tags, branches and views, before any statement is sent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from dbt.adapters.paimon.sql.staging_names import LONGEST_SUFFIX, base_table_name
from dbt.adapters.paimon.sql.views import REGISTRY_TABLE

# Quotes would end a name inside another literal. Paimon splits a name at dots when it renames a table [ran, 0.9.0], and
# makes a folder of it, where a slash means two folders and a colon a URI.
_NOT_IN_SCHEMAS: Final = re.compile(r"""['"`./\\:\x00-\x1f]""")
# A table is a folder, too; the text after a `$` names a system table (Identifier.isSystemTable).
_NOT_IN_TABLES: Final = re.compile(r"[/:$\x00]")
# A tag is a file (TagManager.tagPath): a colon in its name breaks the listing of all tags of the table, and delete_tag
# splits its argument at commas [ran, 0.9.0].
_NOT_IN_TAGS: Final = re.compile(r"[/:,\x00]")
# A brace that does not count repetitions, as `{2}` and `{2,5}` do.
_LOOSE_BRACE: Final = re.compile(r"(?<!\\)\{(?!\d+(?:,\d*)?\})")
_TAG_PREFIX: Final = "tag-"
# A branch is a folder (BranchManager.branchPath), and part of its table's name, which is split at `$`.
_NOT_IN_BRANCHES: Final = re.compile(r"[/:,$\x00]")
_BRANCH_PREFIX: Final = "branch-"
# In bytes: NAME_MAX of Linux, dfs.namenode.fs-limits.max-component-length of HDFS.
_LONGEST_NAME: Final = 255
# Source: org.apache.spark.sql.catalyst.catalog.SessionCatalog.validateName, 3.5.7
_SESSION_CATALOG: Final = re.compile(r"\w+", re.ASCII)
# Reserved in one version or another: SystemColumns of 0.9, SpecialFields since 1.0. (`rowkind` is free in 0.9.)
_PAIMONS_COLUMNS: Final = frozenset({"_VALUE_COUNT", "_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "_ROW_ID"})
_PAIMONS_PREFIX: Final = "_KEY_"
# Sources: MetaStoreUtils.validateName of Hive, which also lowercases names; JdbcCatalog.allowUpperCase.
_METASTORE_NAMES: Final = {
    "hive": (re.compile(r"^[a-z0-9_]+$"), "a Hive metastore allows only lower-case letters, digits and _"),
    "jdbc": (re.compile(r"^[^A-Z]+$"), "a JDBC catalog does not allow upper-case letters"),
}


def schema_problem(schema: str) -> str:
    """Why a schema cannot have this name, and the remedy; empty if it can."""
    remedy = "in `schema` of the node's config, or in what generate_schema_name makes of it."
    if found := _NOT_IN_SCHEMAS.search(schema):
        return f"schema {schema!r}: {found[0]!r} cannot be part of a schema's name. Use letters, digits and _ {remedy}"
    if schema == "sys":
        return f"schema 'sys' is Paimon's own. Use another name {remedy}"
    if too_long := _too_long(f"{schema}.db"):
        return f"schema {schema!r}: its folder's name, with .db, {too_long}. Use a shorter name {remedy}"
    return ""


def pattern_problem(name: str) -> str:
    """Why a name, which a connector uses as a regular expression, is not one; empty if it is.

    Python's syntax stands for Java's, except for braces: Python takes a brace that does not count repetitions as text.
    """
    try:
        re.compile(f"({name})")
    except re.error as exc:
        return f"{name!r} is no regular expression ({exc.msg})"
    brace = _LOOSE_BRACE.search(name)
    return f"{name!r} is no regular expression ({brace[0]!r} does not count anything)" if brace else ""


def table_problem(identifier: str) -> str:
    """Why a table cannot have this name, and the remedy; empty if it can."""
    remedy = "as `alias` of the node, or as its name."
    if found := _NOT_IN_TABLES.search(identifier):
        return f"table {identifier!r}: {found[0]!r} cannot be part of a table's name. Use another name {remedy}"
    if identifier in (".", "..") or not identifier.strip():
        return f"table {identifier!r}: a folder cannot have this name. Use another name {remedy}"
    if identifier == REGISTRY_TABLE:
        return f"table {identifier!r}: dbt-paimon keeps the views of a schema there. Use another name {remedy}"
    other = base_table_name(identifier)
    if other is not None:
        return (
            f"table {identifier!r}: names that end in {identifier.removeprefix(other)} are for tables being "
            f"built, and are dropped when {other!r} is built. Use another name {remedy}"
        )
    if too_long := _too_long(identifier + "_" * LONGEST_SUFFIX):
        return (
            f"table {identifier!r}: its name, with what it is built under ({LONGEST_SUFFIX} characters more), "
            f"{too_long}. Use a shorter name {remedy}"
        )
    return ""


def metastore_problem(metastore: str, schema: str, identifier: str) -> str:
    """Why a metastore (its kind in the profile) cannot store a table with these names, and the remedy; '' if it can."""
    taken = _METASTORE_NAMES.get(metastore)
    for name in (schema, identifier):
        if taken is not None and not taken[0].search(name):
            return (
                f"table {schema}.{identifier}: {taken[1]}, and {name!r} has others. Use another name in `schema` or "
                "`alias` of the node's config."
            )
    return ""


def column_problems(columns: Iterable[str]) -> list[str]:
    """Why a table cannot have columns with these names, with the remedy; empty if it can."""
    problems = []
    # Spark ignores case when it looks up columns.
    by_name: dict[str, list[str]] = defaultdict(list)
    for name in columns:
        by_name[name.lower()].append(name)
        if not name.strip():
            problems.append(f"column {name!r}: a column's name cannot be empty. Name it with `as`.")
        elif name in _PAIMONS_COLUMNS or name.startswith(_PAIMONS_PREFIX):
            problems.append(f"column {name!r}: Paimon reserves this name. Rename it with `as`.")
    for same in by_name.values():
        if len(same) > 1:
            listed = ", ".join(map(repr, same))
            problems.append(f"columns {listed} have the same name. Rename all but one of them with `as`.")
    return problems


# Characters that Java's String.trim removes.
_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))


def tag_problem(tag: str) -> str:
    """Why a tag cannot have this name; empty if it can."""
    if not tag.strip():
        return "a string is needed."
    # TagManager: a tag of digits only would be taken for a snapshot id.
    if tag.isdigit():
        return "a tag's name needs a letter; a number alone means a table snapshot."
    # DeleteTagProcedure of 1.0 and later removes them, and then does not find the tag.
    if tag != tag.strip(_JAVA_BLANKS):
        return "a tag's name cannot begin or end with a blank or a control character: it could not be deleted."
    if found := _NOT_IN_TAGS.search(tag):
        return f"{found[0]!r} cannot be part of a tag's name. Use another character, such as '-' or '_'."
    if too_long := _too_long(_TAG_PREFIX + tag):
        return f"its file's name, with {_TAG_PREFIX}, {too_long}."
    return ""


def branch_problem(branch: str) -> str:
    """Why a branch cannot have this name; empty if it can."""
    if not branch.strip():
        return "a string is needed."
    # BranchManager.createBranch
    if branch.isdigit():
        return "a branch's name needs a letter."
    if branch == "main":
        return "main is the table itself."
    if found := _NOT_IN_BRANCHES.search(branch):
        return f"{found[0]!r} cannot be part of a branch's name. Use another character, such as '-' or '_'."
    if too_long := _too_long(_BRANCH_PREFIX + branch):
        return f"its folder's name, with {_BRANCH_PREFIX}, {too_long}."
    return ""


def view_problem(catalog: str, schema: str, identifier: str) -> str:
    """Why the catalog of views cannot hold a view with this name, and the remedy; empty if it can."""
    for name in (schema, identifier) if catalog == "spark_catalog" else ():
        if not _SESSION_CATALOG.fullmatch(name):
            return (
                f"view {schema}.{identifier}: views live in {catalog}, which allows only letters, digits and _, and "
                f"{name!r} has others. Use another name, or materialize it as a table."
            )
    return ""


def _too_long(name: str) -> str:
    if (length := len(name.encode("utf-8", "surrogatepass"))) <= _LONGEST_NAME:
        return ""
    return f"has {length} bytes in UTF-8, and file systems allow {_LONGEST_NAME}"

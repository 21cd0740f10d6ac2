"""Finishes the renames of killed runs on stores that rename a folder by copying its files one by one.

Hadoop's S3A copies some files to the new folder, deletes them from the old one, and continues with the next files
(RenameOperation). A kill in between leaves a table's files in two folders. Either may look like a complete table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.concurrency import listings
from dbt.adapters.paimon.metadata.classes import file_catalog
from dbt.adapters.paimon.sql.helper_names import BACKUP_SUFFIX, base_table_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.metadata.table_name import TableName

# Paimon gives data files, manifests and indexes a UUID; the other files have the same names in each table.
_UNIQUE: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DISTINCT_CONTENT: Final = re.compile(r"^(schema|snapshot)/(schema|snapshot)-\d+$")


class CopiedRenames:
    """The renames between a table's name and its staging and backup names.

    Args:
        table: the table; only folders at Paimon's default location, `<warehouse>/<schema>.db`, are found.
    """

    def __init__(self, session: SparkSession, table: TableName) -> None:
        self._jvm: Any = session._jvm
        catalog = file_catalog(session, table.catalog)
        self._files: Any = catalog.fileIO()
        self._schema = f"{catalog.warehouse()}/{table.schema}.db"
        self._table = table.identifier

    def possible(self) -> list[tuple[str, str]]:
        """The renames that may be unfinished: pairs of an old and a new name, both with a folder."""
        if not self._files.exists(self._jvm.org.apache.paimon.fs.Path(self._schema)):
            return []
        entries = listings.repeated(lambda: self._listed(self._schema))
        names = {str(each.getPath().getName()) for each in entries if each.isDir()}
        backup = self._table + BACKUP_SUFFIX
        staged = sorted(name for name in names - {backup} if base_table_name(name) == self._table)
        renames = [*((name, self._table) for name in staged), (self._table, backup)]
        return [rename for rename in renames if names.issuperset(rename)]

    def finish(self) -> list[tuple[str, str]]:
        """Move the remaining files of unfinished renames, and return those renames.

        Raises:
            DbtRuntimeError: the store refuses to move a file, or the folders do not show which rename is unfinished.
        """
        renames = self.possible()
        finished = [rename for rename in renames if self._finished(*rename)]
        names = sorted({name for rename in renames for name in rename})
        # Without a backup, all names but the table's own are tables that killed runs were still building.
        if len(names) > 2 and self._table + BACKUP_SUFFIX in names and not finished:
            raise DbtRuntimeError(
                f"A killed run left {', '.join(names)}, and their files do not show which of them are complete. "
                f"Nothing was changed. Keep the one that has all rows: drop the others, and rename it to {self._table}"
            )
        return finished

    def _finished(self, old: str, new: str) -> bool:
        """Finish one rename; False if the two folders hold different tables."""
        moved, there = self._sizes(old), self._sizes(new)
        if not self._are_parts(old, new, moved.keys() & there.keys()):
            return False
        for path, size in moved.items():
            self._move(self._path(old, path), self._path(new, path), is_copied=there.get(path) == size)
        self._files.delete(self._path(old), True)
        return True

    def _are_parts(self, old: str, new: str, common: set[str]) -> bool:
        """Whether two folders are parts of one table: at least one of their `common` paths was copied."""
        return any(
            _UNIQUE.search(path)
            or (
                _DISTINCT_CONTENT.match(path)
                and self._files.readFileUtf8(self._path(old, path)) == self._files.readFileUtf8(self._path(new, path))
            )
            for path in common
        )

    def _move(self, old: Any, new: Any, *, is_copied: bool) -> None:
        if is_copied:
            self._files.delete(old, False)
            return
        self._files.delete(new, False)
        self._files.mkdirs(new.getParent())
        if not self._files.rename(old, new):
            raise DbtRuntimeError(
                f"A killed run left a rename unfinished, and {old} could not be moved to {new}. Run the model again, "
                "or move the file yourself."
            )

    def _sizes(self, folder: str, below: str = "") -> dict[str, int]:
        """The paths of a folder's files, and their sizes in bytes."""
        found: dict[str, int] = {}
        for each in self._listed(f"{self._schema}/{folder}/{below}"):
            path = below + str(each.getPath().getName())
            found |= self._sizes(folder, f"{path}/") if each.isDir() else {path: int(each.getLen())}
        return found

    def _listed(self, folder: str) -> list[Any]:
        return list(self._files.listStatus(self._jvm.org.apache.paimon.fs.Path(folder)))

    def _path(self, folder: str, path: str = "") -> Any:
        return self._jvm.org.apache.paimon.fs.Path(f"{self._schema}/{folder}/{path}".rstrip("/"))

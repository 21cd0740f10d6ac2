"""A dbt project that stays loaded: runs dbt commands in this process, and parses only what has changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from dbt.adapters.paimon.profile import profiles_folder

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from dbt.contracts.graph.manifest import Manifest

# Keys of dbt_project.yml with folders of files that dbt parses, and dbt's defaults.
FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "model-paths": ("models",),
    "seed-paths": ("seeds",),
    "snapshot-paths": ("snapshots",),
    "macro-paths": ("macros",),
    "test-paths": ("tests",),
    "analysis-paths": ("analyses",),
    "function-paths": ("functions",),
    "packages-install-path": ("dbt_packages",),
}
# Files beside them.
_FILES: Final = (
    "dbt_project.yml",
    "packages.yml",
    "dependencies.yml",
    "catalogs.yml",
    "selectors.yml",
)
# Options with which dbt parses the project in another way.
_PARSES_ANEW: Final = frozenset(
    {
        "--vars",
        "--target",
        "--profile",
        "--no-partial-parse",
        "--project-dir",
        "--profiles-dir",
    }
)
# Options that are folders: a command may be run from another one.
_PLACES: Final = ("project_dir", "profiles_dir")
# Short names of options, as dbt has them.
_SHORT: Final = {"-t": "--target"}
# Commands that read the project themselves, or need none.
_WITHOUT_MANIFEST: Final = frozenset({"parse", "deps", "clean", "init", "debug"})
_SAYS_WHAT_IT_WRITES: Final = frozenset({"--write-json", "--no-write-json"})
# Commands that write target/manifest.json at their end: written after parsing, too, it would be twice.
_WRITES_MANIFEST: Final = frozenset({"run", "build", "test", "seed", "snapshot", "compile"})


class Project:
    """Runs dbt commands on one project.

    Args:
        folder: of dbt_project.yml.
        target: dbt's options for profile, target and variables, given with every command.
        own: runs the words of a command of `dbt-paimon` itself, with the project if it need not be parsed for them;
            returns its exit code.
    """

    def __init__(
        self,
        folder: Path,
        target: Mapping[str, str | None],
        own: Callable[[Sequence[str], Manifest | None], int] = lambda words, manifest: 2,
    ) -> None:
        self.folder = folder
        self._own = own
        self._target = {
            f"--{name.replace('_', '-')}": str(Path(value).resolve()) if name in _PLACES else value
            for name, value in target.items()
            if value is not None
        }
        self._manifest: Manifest | None = None
        self._parsed: Mapping[Path, tuple[int, int]] = {}

    def run(self, words: Sequence[str]) -> dbtRunnerResult:
        """Run one dbt command, as its words on the command line without `dbt`.

        The result has the exception, if dbt could not run the command; nothing is raised.
        """
        from dbt.cli.main import dbtRunner

        given = _given(words)
        manifest = None if self._parses(words) else self._fresh_manifest(write=not given & _WRITES_MANIFEST)
        # Its results would replace those of the last run, which `dbt retry` and the report read.
        first = ["--no-write-json"] if "show" in given and not given & _SAYS_WHAT_IT_WRITES else []
        try:
            return dbtRunner(manifest=manifest).invoke([*first, *self._with_target(words)])
        finally:
            _forget_inline_queries(manifest)

    def run_own(self, words: Sequence[str]) -> int:
        """Run a command of `dbt-paimon` itself; its exit code."""
        manifest = None if self._parses(words) else self._fresh_manifest(write=False)
        return self._own(self._with_target(words), manifest)

    @property
    def profiles_dir(self) -> Path | None:
        """The folder that was given for profiles.yml; None if none was."""
        given = self._target.get("--profiles-dir") or os.environ.get("DBT_PROFILES_DIR")
        return Path(given) if given else None

    @property
    def manifest(self) -> Manifest:
        """The project as it was parsed last.

        Raises:
            RuntimeError: it was not parsed yet (see `load`).
        """
        if self._manifest is None:
            raise RuntimeError("the project is not parsed")
        return self._manifest

    def names(self) -> list[str]:
        """The names of the project's nodes, sorted; empty before it is parsed."""
        if self._manifest is None:
            return []
        kinds = ("model", "seed", "snapshot", "source")
        nodes: list[Any] = [*self._manifest.nodes.values(), *self._manifest.sources.values()]
        return sorted({node.name for node in nodes if node.resource_type in kinds})

    def load(self, write: bool = True) -> dbtRunnerResult | None:
        """Parse the project if files have changed since; the result if it could not be parsed.

        Args:
            write: also write target/manifest.json.
        """
        from dbt.cli.main import dbtRunner

        found = self._stamps()
        if self._manifest is not None and found == self._parsed:
            return None
        words = ["--quiet", "parse", "--write-json" if write else "--no-write-json"]
        result = dbtRunner().invoke(self._with_target(words))
        if not result.success:
            self._manifest = None
            return result
        manifest: Any = result.result
        self._manifest, self._parsed = manifest, found
        return None

    def watched(self) -> list[Path]:
        """The folders of files that dbt parses, as far as they exist."""
        return [path for path in self._folders() if path.is_dir()]

    def _fresh_manifest(self, write: bool) -> Manifest | None:
        # If it cannot be parsed, dbt says so once more, with the command.
        return None if self.load(write) else self._manifest

    def _parses(self, words: Sequence[str]) -> bool:
        given = _given(words)
        return bool(given & _PARSES_ANEW) or bool(given & _WITHOUT_MANIFEST)

    def _with_target(self, words: Sequence[str]) -> list[str]:
        given = _given(words)
        return [
            *words,
            *(part for name, value in self._target.items() if name not in given for part in (name, value)),
        ]

    def _folders(self) -> Iterator[Path]:
        path = self.folder / "dbt_project.yml"
        config = yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}
        for key, default in FOLDERS.items():
            value = (config or {}).get(key) or default
            for name in [value] if isinstance(value, str) else value:
                yield self.folder / name

    def _stamps(self) -> dict[Path, tuple[int, int]]:
        """Time and size of each file that decides how the project is parsed."""
        profiles = profiles_folder(self._target.get("--profiles-dir"))
        files = [self.folder / name for name in _FILES] + [profiles / "profiles.yml"]
        for folder in self._folders():
            files += [Path(place, name) for place, _, names in os.walk(folder) for name in names]
        found = {}
        for path in files:
            try:
                told = path.stat()
            except OSError:
                continue
            found[path] = (told.st_mtime_ns, told.st_size)
        return found


def _forget_inline_queries(manifest: Manifest | None) -> None:
    """Remove what `--inline` has added: dbt leaves it there if the query fails, and refuses the next one."""
    nodes = manifest.nodes if manifest is not None else {}
    for unique_id in [name for name, node in nodes.items() if str(node.resource_type) == "sql_operation"]:
        del nodes[unique_id]


def _given(words: Sequence[str]) -> set[str]:
    """The options among the words of a command, by their long names, and its other words."""
    names = (word.partition("=")[0] for word in words)
    return {_SHORT.get(name, name) for name in names}

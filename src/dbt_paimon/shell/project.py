"""A loaded dbt project: runs dbt commands in this process, and parses again only after changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from dbt.adapters.paimon.profile import profiles_folder
from dbt_paimon.words import command, is_short_target

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from dbt.contracts.graph.manifest import Manifest

# Keys of dbt_project.yml for folders that dbt parses -> dbt's defaults.
FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "model-paths": ("models",),
    "seed-paths": ("seeds",),
    "snapshot-paths": ("snapshots",),
    "macro-paths": ("macros",),
    "test-paths": ("tests",),
    "analysis-paths": ("analyses",),
    "function-paths": ("functions",),
    "docs-paths": (),
    "packages-install-path": ("dbt_packages",),
}
# Files that dbt parses outside these folders.
_FILES: Final = ("dbt_project.yml", "packages.yml", "dependencies.yml", "catalogs.yml", "selectors.yml")
# These commands parse the project themselves, or do not need it.
_COMMANDS_WITHOUT_MANIFEST: Final = frozenset({"parse", "deps", "clean", "init", "debug"})
# With these options a command parses the project again.
_PARSE_OPTIONS: Final = frozenset(
    {"--vars", "--target", "--profile", "--no-partial-parse", "--project-dir", "--profiles-dir"}
)
# Options that are folders. They are made absolute because a command may run in a different folder.
_FOLDER_OPTIONS: Final = ("project_dir", "profiles_dir")
_WRITE_OPTIONS: Final = frozenset({"--write-json", "--no-write-json"})
# Commands that write target/manifest.json themselves, so the shell need not write it after parsing.
_WRITES_MANIFEST: Final = frozenset({"run", "build", "test", "seed", "snapshot", "compile"})


class Project:
    """Runs dbt commands on one project.

    Args:
        dbt_options: options for project, profile, target and variables, added to every command.
        run_dbt_paimon: runs a `dbt-paimon` command and returns its exit code. The second argument is the manifest, or
            None if the command has to parse the project.
    """

    def __init__(
        self,
        folder: Path,
        dbt_options: Mapping[str, str | None],
        run_dbt_paimon: Callable[[Sequence[str], Manifest | None], int] = lambda words, manifest: 2,
    ) -> None:
        self.folder = folder
        self._run_dbt_paimon = run_dbt_paimon
        self._dbt_options = {
            f"--{name.replace('_', '-')}": str(Path(value).resolve()) if name in _FOLDER_OPTIONS else value
            for name, value in dbt_options.items()
            if value is not None
        }
        self._manifest: Manifest | None = None
        self._parsed: Mapping[Path, tuple[int, int]] = {}

    def run(self, words: Sequence[str]) -> dbtRunnerResult:
        """Run a dbt command, given its arguments; an exception is returned as the result's `exception`."""
        from dbt.cli.main import dbtRunner

        name = command(words)
        manifest = None if must_parse(words) else self._fresh_manifest(write=name not in _WRITES_MANIFEST)
        # Keep the results of the last run for `dbt retry` and the report; `show` would overwrite them.
        first = ["--no-write-json"] if name == "show" and not _options(words) & _WRITE_OPTIONS else []
        try:
            return dbtRunner(manifest=manifest).invoke([*first, *self._with_options(words)])
        finally:
            _forget_inline_queries(manifest)

    def run_dbt_paimon(self, words: Sequence[str]) -> int:
        """Run a `dbt-paimon` command and return its exit code."""
        manifest = None if must_parse(words) else self._fresh_manifest(write=False)
        return self._run_dbt_paimon(self._with_options(words), manifest)

    @property
    def dbt_options(self) -> Mapping[str, str]:
        """The options that are added to every command, by their long names."""
        return self._dbt_options

    @property
    def manifest(self) -> Manifest:
        """The manifest of the last parse (see `load`)."""
        if self._manifest is None:
            raise RuntimeError("the project is not parsed")
        return self._manifest

    def node_names(self) -> list[str]:
        """The names of the project's nodes, sorted; empty before it is parsed."""
        if self._manifest is None:
            return []
        return sorted({node.name for node in (*_nodes(self._manifest), *self._manifest.sources.values())})

    def load(self, write: bool = True) -> dbtRunnerResult | None:
        """Parse the project if files have changed, and optionally write target/manifest.json.

        Returns dbt's result on failure, None on success.
        """
        from dbt.cli.main import dbtRunner

        found = self._file_states()
        if self._manifest is not None and found == self._parsed:
            return None
        words = ["--quiet", "parse", "--write-json" if write else "--no-write-json"]
        result = dbtRunner().invoke(self._with_options(words))
        if not result.success:
            self._manifest = None
            return result
        manifest: Any = result.result
        self._manifest, self._parsed = manifest, found
        return None

    def watched_folders(self) -> list[Path]:
        return [path for path in self._folders() if path.is_dir()]

    def _fresh_manifest(self, write: bool) -> Manifest | None:
        # None if parsing fails: the dbt command then parses again and prints the error.
        return None if self.load(write) else self._manifest

    def _with_options(self, words: Sequence[str]) -> list[str]:
        given = _options(words)
        added = (part for option in self._dbt_options.items() if option[0] not in given for part in option)
        return [*words, *added]

    def _folders(self) -> Iterator[Path]:
        path = self.folder / "dbt_project.yml"
        config = yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}
        for key, default in FOLDERS.items():
            value = (config or {}).get(key) or default
            for name in [value] if isinstance(value, str) else value:
                yield self.folder / name

    def _file_states(self) -> dict[Path, tuple[int, int]]:
        """Modification time and size of each file that dbt parses."""
        profiles = profiles_folder(self._dbt_options.get("--profiles-dir"))
        files = [self.folder / name for name in _FILES] + [profiles / "profiles.yml"]
        for folder in self._folders():
            files += _files_in(folder)
        found = {}
        for path in files:
            with suppress(OSError):
                status = path.stat()
                found[path] = (status.st_mtime_ns, status.st_size)
        return found


def _files_in(folder: Path) -> Iterator[Path]:
    """The files below a folder, also of packages that dbt has installed as links."""
    seen = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        # A package may link to a folder above it. dbt reads no hidden folders, such as .venv and .git.
        folders[:] = [] if real in seen else [name for name in folders if not name.startswith(".")]
        seen.add(real)
        yield from (Path(place, name) for name in names)


def _forget_inline_queries(manifest: Manifest | None) -> None:
    """Remove the nodes of `--inline` queries: dbt leaves them after a failure, and the next query would fail."""
    nodes = manifest.nodes if manifest is not None else {}
    for unique_id in [name for name, node in nodes.items() if str(node.resource_type) == "sql_operation"]:
        del nodes[unique_id]


def must_parse(words: Sequence[str]) -> bool:
    """Whether a dbt command parses the project itself, by its name or its options."""
    return command(words) in _COMMANDS_WITHOUT_MANIFEST or bool(_options(words) & _PARSE_OPTIONS)


def _options(words: Sequence[str]) -> set[str]:
    """The options of a command, by their long names and without values."""
    given = (word for word in words if word.startswith("-"))
    return {"--target" if is_short_target(word) else word.partition("=")[0] for word in given}


def touched(manifest: Manifest, folder: Path, saved: Iterable[Path]) -> list[str]:
    """The names of models, seeds and snapshots that are in saved files, or call macros in saved files.

    YAML files are ignored, because they may describe many nodes.
    """
    paths = {_relative(path, folder) for path in saved}
    macros = {name for name, macro in manifest.macros.items() if macro.original_file_path in paths}
    callers = _with_callers(manifest, macros)
    found = {
        node.name
        for node in _nodes(manifest)
        if node.original_file_path in paths and not node.original_file_path.endswith((".yml", ".yaml"))
    }
    found |= {node.name for node in _nodes(manifest) if callers & set(node.depends_on.macros)}
    return sorted(found)


def _nodes(manifest: Manifest) -> list[Any]:
    nodes: Iterable[Any] = manifest.nodes.values()
    return [node for node in nodes if node.resource_type in ("model", "seed", "snapshot")]


def _with_callers(manifest: Manifest, macros: set[str]) -> set[str]:
    """The macros and all macros that call them."""
    found = set(macros)
    while True:
        more = {name for name, macro in manifest.macros.items() if found & set(macro.depends_on.macros)} - found
        if not more:
            return found
        found |= more


def _relative(path: Path, folder: Path) -> str:
    try:
        return str(path.resolve().relative_to(folder.resolve()))
    except ValueError:
        return str(path)

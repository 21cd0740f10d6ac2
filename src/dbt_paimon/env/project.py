"""Runs dbt in a project's production target, or in one of its environments.

An environment is the production target with the schema `<schema>__<name>`. dbt reads this target from a temporary
profiles.yml, so the project's macros (custom schemas, `target.name`) need no change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import yaml
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.profile import load_profile, profiles_folder, project_root
from dbt.adapters.paimon.time_travel.clones import BY_BRANCH
from dbt_paimon import commands
from dbt_paimon.words import options

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

    from dbt.adapters.paimon.impl import PaimonAdapter

T = TypeVar("T")

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Project:
    """A project, its production target, and the name of one environment.

    Attributes:
        target: dbt's options that choose the project and the production target.
        name: the environment's name as schema names contain it, such as pr_7.
    """

    target: Mapping[str, str | None]
    name: str

    @property
    def folder(self) -> Path:
        """The folder of dbt's artifacts for this environment."""
        return project_root(self.target["project_dir"]) / "target" / "env" / self.name

    def in_production(self) -> list[str]:
        """dbt's options for the production target."""
        return options(self.target)

    @contextmanager
    def in_environment(self) -> Iterator[list[str]]:
        """Yield dbt's options for the environment's target, whose profiles.yml exists only inside the block."""
        from dbt.config.profile import read_profile

        production = load_profile(**self.target)
        folder = profiles_folder(self.target["profiles_dir"])
        raw = read_profile(str(folder))[production.profile_name]["outputs"][production.target_name]
        credentials = production.credentials
        # Without `schema`, `database` names the schema; beside it, `database` would name the catalog.
        names = {"catalog": credentials.database, "schema": f"{credentials.schema}__{self.name}"}
        output = {**raw, **names, "clone_by": BY_BRANCH}
        output.pop("database", None)
        profile = {"target": production.target_name, "outputs": {production.target_name: output}}
        with TemporaryDirectory() as temporary:
            text = yaml.safe_dump({production.profile_name: profile}, sort_keys=False)
            Path(temporary, "profiles.yml").write_text(text, encoding="utf-8")
            given = {**self.target, "profiles_dir": temporary, "target_path": str(self.folder)}
            yield options(given)


def schema_suffix(name: str) -> str:
    """Convert an environment's name to a schema suffix: `pr-123` becomes `pr_123`. Refuses other characters."""
    part = name.lower().replace("-", "_")
    if not _NAME.fullmatch(part):
        raise DbtRuntimeError(
            f"env: '{name}' cannot be part of a schema's name. Use up to 63 letters, digits, '-' and '_', for example "
            "pr-123."
        )
    return part


def ran_all(ran: Any, nodes: Iterable[str]) -> bool:
    """Whether a dbt command succeeded and ran all of these nodes."""
    return bool(ran.success) and {*nodes} <= {result.node.unique_id for result in ran.result.results}


def parse(arguments: Sequence[str]) -> Manifest:
    """Parse the project for a target, and return the manifest. Sends no statement."""
    return cast("Manifest", commands.run(["--quiet", "parse", *arguments, "--no-write-json"]).result)


def with_adapter(arguments: Sequence[str], function: Callable[[PaimonAdapter], T]) -> T:
    """Call a function with a target's adapter on an open connection, and return the function's result.

    The call runs inside `dbt run-operation`, so that the adapter can render macros.
    """
    from dbt.adapters.factory import get_adapter
    from dbt.task import run_operation as task

    found: list[T] = []
    errors: list[Exception] = []

    class Task(task.RunOperationTask):
        def _run_unsafe(self, package_name: str | None, macro_name: str) -> Any:
            adapter: Any = get_adapter(self.config)
            with adapter.connection_named("env"):
                try:
                    found.append(function(adapter))
                except Exception as exc:
                    errors.append(exc)
                    raise

    # run-operation requires the name of an existing macro, but this task calls the function instead.
    words = ["run-operation", "paimon__write_journal", *arguments, "--log-level", "none", "--no-write-json"]
    with commands.replaced(task, RunOperationTask=Task):
        commands.run(words)
    if errors:
        raise errors[0]
    return found[0]

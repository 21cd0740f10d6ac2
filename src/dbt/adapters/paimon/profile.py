"""Finds and reads profiles as dbt does."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials

if TYPE_CHECKING:
    from dbt.config.profile import Profile


def load_profile(
    project_dir: str | None = None,
    profiles_dir: str | None = None,
    profile: str | None = None,
    target: str | None = None,
    vars: str | None = None,  # noqa: A002 - dbt's own name for it
) -> Profile:
    """Read a target of a profile; the arguments are dbt's options. Raises DbtRuntimeError if the type is not paimon."""
    from dbt.config import runtime
    from dbt.config.utils import parse_cli_vars
    from dbt.flags import set_from_args

    _allow_env_vars()
    profile, target = profile or _variable("PROFILE"), target or _variable("TARGET")
    folder = profiles_folder(profiles_dir)
    set_from_args(Namespace(PROFILES_DIR=str(folder), PROJECT_DIR=project_dir), {})
    loaded = runtime.load_profile(str(project_root(project_dir)), parse_cli_vars(vars or "{}"), profile, target)
    if not isinstance(loaded.credentials, PaimonCredentials):
        raise DbtRuntimeError(f"The target {loaded.target_name} is of type {loaded.credentials.type}, not paimon.")
    return loaded


def load_credentials(
    project_dir: str | None = None,
    profiles_dir: str | None = None,
    profile: str | None = None,
    target: str | None = None,
    vars: str | None = None,  # noqa: A002 - dbt's own name for it
) -> PaimonCredentials:
    """Read a target's credentials; the arguments are those of `load_profile`."""
    credentials = load_profile(project_dir, profiles_dir, profile, target, vars).credentials
    assert isinstance(credentials, PaimonCredentials)
    return credentials


def _allow_env_vars() -> None:
    """Give dbt's `env_var` access to the environment, as dbt commands do."""
    from dbt_common.context import get_invocation_context, set_invocation_context

    try:
        get_invocation_context()
    except LookupError:
        set_invocation_context(os.environ)


def _variable(name: str) -> str | None:
    """The value of dbt's environment variable for an option."""
    return os.environ.get(f"DBT_ENGINE_{name}") or os.environ.get(f"DBT_{name}")


def profiles_folder(profiles_dir: str | None) -> Path:
    """The folder of profiles.yml: the argument, DBT_PROFILES_DIR, or dbt's default."""
    from dbt.cli.resolvers import default_profiles_dir

    return Path(profiles_dir or _variable("PROFILES_DIR") or default_profiles_dir())


def project_root(project_dir: str | None) -> Path:
    """The folder of dbt_project.yml: the argument, DBT_PROJECT_DIR, or the current folder or one above it."""
    from dbt.cli.resolvers import default_project_dir

    return Path(project_dir or _variable("PROJECT_DIR") or default_project_dir()).absolute()


def check_threads(config: object) -> None:
    """Refuse fewer than one thread in dbt's RuntimeConfig, because dbt would wait forever."""
    threads = getattr(config, "threads", None)
    if isinstance(threads, int) and threads < 1:
        raise DbtRuntimeError(f"threads: {threads} in the profile, or --threads: must be at least 1.")

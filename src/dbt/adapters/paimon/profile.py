"""A target of a profile, found and read as dbt does it."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials


def load_credentials(
    project_dir: str | None = None,
    profiles_dir: str | None = None,
    profile: str | None = None,
    target: str | None = None,
    vars: str | None = None,  # noqa: A002 - dbt's own name for it
) -> PaimonCredentials:
    """The credentials of a target.

    Args:
        project_dir: the folder of dbt_project.yml; this one if not given.
        profiles_dir: the folder of profiles.yml; dbt's own choice if not given.
        profile: the profile, if not the project's.
        target: the target, if not the profile's.
        vars: variables as YAML text.

    Raises:
        DbtRuntimeError: the target is of another adapter; dbt's own errors for what it does not find.
    """
    from dbt.cli.resolvers import default_profiles_dir
    from dbt.config.runtime import load_profile
    from dbt.config.utils import parse_cli_vars
    from dbt.flags import set_from_args

    folder = profiles_dir or os.environ.get("DBT_PROFILES_DIR") or default_profiles_dir()
    set_from_args(Namespace(PROFILES_DIR=str(folder), PROJECT_DIR=project_dir), {})
    loaded = load_profile(str(project_root(project_dir)), parse_cli_vars(vars or "{}"), profile, target)
    credentials = loaded.credentials
    if not isinstance(credentials, PaimonCredentials):
        raise DbtRuntimeError(f"The target {loaded.target_name} is of type {credentials.type}, not paimon.")
    return credentials


def project_root(project_dir: str | None) -> Path:
    """The folder of dbt_project.yml: as given, by DBT_PROJECT_DIR, or this one."""
    return Path(project_dir or os.environ.get("DBT_PROJECT_DIR") or ".").absolute()

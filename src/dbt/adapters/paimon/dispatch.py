"""Where dbt looks for the macros of known packages, if a project does not say it."""

from __future__ import annotations

from typing import Any, Final

# Packages for which the adapter has macros of its own: `macros/packages`.
PACKAGES: Final = (
    "audit_helper",
    "automate_dv",
    "dbt_expectations",
    "dbt_profiler",
    "dbt_utils",
    "elementary",
)


def add_search_orders(config: Any) -> None:
    """Let dbt find the adapter's macros for these packages: after the project's own, before the packages'.

    A `dispatch` entry of the project stays as it is. An entry for a package that a project has not is never asked.

    Args:
        config: dbt's RuntimeConfig; without a project (`dbt debug`) there are no packages.
    """
    if getattr(config, "dispatch", None) is None:
        return
    said = {entry["macro_namespace"] for entry in config.dispatch}
    config.dispatch = [
        *config.dispatch,
        *(
            {"macro_namespace": package, "search_order": [config.project_name, "dbt", package]}
            for package in PACKAGES
            if package not in said
        ),
    ]

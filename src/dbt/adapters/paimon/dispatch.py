"""Search orders for the macros of known packages."""

from __future__ import annotations

from typing import Any, Final

# Packages for which the adapter has macros (`macros/packages`).
PACKAGES: Final = tuple("audit_helper automate_dv dbt_expectations dbt_profiler dbt_utils elementary".split())


def add_search_orders(config: Any) -> None:
    """Let dbt find the adapter's macros for these packages after the project's own, before the packages' macros.

    `dispatch` entries of the project stay. `dbt debug` has no project, and so no packages.
    """
    if getattr(config, "dispatch", None) is None:
        return
    configured = {entry["macro_namespace"] for entry in config.dispatch}
    added = [
        {"macro_namespace": package, "search_order": [config.project_name, "dbt", package]}
        for package in PACKAGES
        if package not in configured
    ]
    config.dispatch = [*config.dispatch, *added]

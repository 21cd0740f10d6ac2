"""Adds dispatch search orders for packages whose macros the adapter overrides."""

from __future__ import annotations

from typing import Any, Final

# Packages for which the adapter has macros (`macros/packages`).
PACKAGES: Final = tuple("audit_helper automate_dv dbt_expectations dbt_profiler dbt_utils elementary".split())


def add_search_orders(config: Any) -> None:
    """Make dbt search macros of these packages in the project first, then in the adapter, then in the package.

    The project's own `dispatch` entries are kept. `dbt debug` has no project, and so no packages.
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

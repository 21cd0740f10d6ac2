"""The file of a seed or Python model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def path_of(model: Mapping[str, Any], config: Any) -> Path:
    """The file of a node, found as dbt finds it: in the project or a package, otherwise under its `root_path`."""
    root = Path(config.project_root)
    if model["package_name"] != config.project_name:
        root = root / config.packages_install_path / model["package_name"]
    path = root / model["original_file_path"]
    return path if path.exists() else Path(model.get("root_path") or root, model["original_file_path"])

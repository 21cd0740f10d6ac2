"""Kubernetes' own programs, built from source once and cached."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from integration.services.maven import cache

# One Go module per program: they need different versions of the same libraries.
_MODULES = Path(__file__).parent / "components"


def programs() -> Path:
    """The folder of the programs `cluster`, `dns` and `pause`; a build takes half an hour on one core.

    Raises:
        RuntimeError: Go is not installed, or a program does not build.
    """
    digest = hashlib.sha256()
    for path in sorted(_MODULES.rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
    folder = cache() / "kubernetes" / f"programs-{digest.hexdigest()[:16]}"
    if not folder.exists():
        _build(folder)
    return folder


def _build(folder: Path) -> None:
    if shutil.which("go") is None:
        raise RuntimeError("Kubernetes is built from its sources: install Go 1.24 or later")
    part = folder.with_name(f"{folder.name}.{os.getpid()}")
    part.mkdir(parents=True)
    for module in sorted(_MODULES.iterdir()):
        built = subprocess.run(
            ["go", "build", "-ldflags=-s -w", "-o", f"{part}/", "."],
            cwd=module,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if built.returncode != 0:
            raise RuntimeError(f"{module.name} does not build:\n{built.stderr[-3000:]}")
    part.rename(folder)

"""Kubernetes' own programs, built from its sources once and kept beside what the tests download."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from integration.services.maven import cache

_MODULE = Path(__file__).parent / "components"


def programs() -> Path:
    """The folder of the programs `cluster` and `dns`; building them takes some minutes of both cores.

    Raises:
        RuntimeError: there is no Go, or they do not build.
    """
    digest = hashlib.sha256()
    for path in sorted(_MODULE.rglob("*")):
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
    built = subprocess.run(
        ["go", "build", "-ldflags=-s -w", "-o", f"{part}/", "./..."],
        cwd=_MODULE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        raise RuntimeError(f"Kubernetes' programs do not build:\n{built.stderr[-3000:]}")
    part.rename(folder)

"""Finds uv, and writes empty wheels in place of packages that a machine cannot install."""

from __future__ import annotations

import base64
import hashlib
import shutil
import sys
import zipfile
from pathlib import Path

# Building its source distribution downloads a binary, and dbt-core runs without it.
PARSER = "dbt-core-experimental-parser"
_VERSION = "2.999"


def find_uv() -> str:
    """The uv in this Python's folder, or else on the PATH."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    assert found, "uv is neither beside Python nor on the PATH: run `make venv`"
    return found


def write_empty(name: str, folder: Path) -> None:
    """Write an empty wheel (binary distribution format of packaging.python.org)."""
    base = f"{name.replace('-', '_')}-{_VERSION}"
    info = f"{base}.dist-info"
    content = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {_VERSION}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in content.items()]
    content[f"{info}/RECORD"] = "".join(lines) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{base}-py3-none-any.whl", "w") as wheel:
        for path, text in content.items():
            # Without a timestamp, so that the bytes are always the same.
            wheel.writestr(zipfile.ZipInfo(path), text)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()

"""Images built by buildah on a Debian made by debootstrap: a machine without a registry of images has both as packages.

Needs root. The Debian is `debian:bookworm-slim` for this build alone: it also has this machine's certificates and pip's settings,
without which pip reaches no index from here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from integration.services.maven import cache

DEBIAN = "docker.io/library/debian:bookworm-slim"
_MIRROR = "http://deb.debian.org/debian"
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# dbt-core 1.12 asks for a package whose source distribution downloads a binary, which not every network allows.
_CONSTRAINTS = "dbt-core<1.12\n"
SECONDS = 1800


class Images:
    """A builder's storage; what it holds is gone with its folder."""

    def __init__(self, folder: Path) -> None:
        """Make the base image.

        Raises:
            RuntimeError: buildah or debootstrap is missing.
        """
        missing = [name for name in ("buildah", "debootstrap") if not shutil.which(name)]
        if missing:
            raise RuntimeError(f"apt-get install {' '.join(missing)}: this test builds an image")
        self._folder = folder
        context = folder / "base"
        context.mkdir(parents=True)
        shutil.copy(_debian(), context / "debian.tar")
        _add_settings(context)
        (context / "Dockerfile").write_text("FROM scratch\nADD debian.tar /\nCOPY host /\n")
        self.build(DEBIAN, context / "Dockerfile", context)

    def build(self, name: str, dockerfile: Path, context: Path, arguments: Mapping[str, str] = {}) -> None:
        """Build an image.

        Args:
            arguments: its build arguments.

        Raises:
            subprocess.CalledProcessError: a step failed.
        """
        given = [part for key, value in arguments.items() for part in ("--build-arg", f"{key}={value}")]
        self._buildah(
            *("bud", "--isolation", "chroot", "--pull-never", "--layers=false", "--tag", name, *given),
            *("--file", str(dockerfile), str(context)),
        )

    def run(self, name: str, project: Path, *command: str) -> str:
        """Run a command in a container of an image, as the image's user and with a folder as /project.

        Returns:
            What it wrote.

        Raises:
            subprocess.CalledProcessError: it failed.
        """
        container = self._buildah("from", "--pull-never", name).strip()
        mount = f"{project}:/project"
        try:
            return self._buildah("run", "--isolation", "chroot", "--volume", mount, container, "--", *command)
        finally:
            self._buildah("rm", container)

    def _buildah(self, *arguments: str) -> str:
        places = (
            "--storage-driver",
            "vfs",
            "--root",
            self._folder / "images",
            "--runroot",
            self._folder / "run",
        )
        ended = subprocess.run(
            ["buildah", *map(str, places), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=SECONDS,
        )
        return ended.stdout


def _debian() -> Path:
    """Debian's smallest system as a tar file, made once."""
    path = cache() / "debian-bookworm.tar"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        root = path.with_suffix(f".{os.getpid()}")
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, _MIRROR], check=True)
        part = path.with_suffix(".part")
        subprocess.run(["tar", "-C", root, "-cf", part, "."], check=True)
        shutil.rmtree(root)
        part.rename(path)
    return path


def _add_settings(context: Path) -> None:
    """What a container needs of this machine to reach an index."""
    host = context / "host"
    (host / "etc").mkdir(parents=True)
    (host / "opt").mkdir()
    shutil.copy(_CERTIFICATES, host / "etc" / "host.crt")
    (host / "opt" / "constraints.txt").write_text(_CONSTRAINTS)
    (host / "etc" / "pip.conf").write_text(
        "[global]\ncert = /etc/host.crt\nconstraint = /opt/constraints.txt\n"
    )

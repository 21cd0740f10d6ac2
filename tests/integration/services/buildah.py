"""Container images built by buildah on a Debian made by mmdebstrap: needs root, but no image registry."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SECONDS: Final = 1800
_POLICY: Final = '{"default": [{"type": "insecureAcceptAnything"}]}'


@dataclass(frozen=True)
class Images:
    """The images in a folder.

    Attributes:
        folder: buildah's storage; deleting it deletes the images.
    """

    folder: Path

    def __post_init__(self) -> None:
        """Raises: RuntimeError: a program is missing."""
        missing = [name for name in ("buildah", "mmdebstrap") if not shutil.which(name)]
        if missing:
            raise RuntimeError(f"apt-get install {' '.join(missing)}: this test builds an image")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._policy.write_text(_POLICY)

    @property
    def _policy(self) -> Path:
        return self.folder / "policy.json"

    def build(self, name: str, dockerfile: Path, context: Path, *options: str) -> None:
        """Build an image from local images.

        Args:
            options: further options of `buildah build`.

        Raises:
            RuntimeError: a step failed; with the end of its output.
        """
        # A build without namespaces also works in a container.
        isolated = ("--isolation=chroot", "--pull=never", "--signature-policy", self._policy)
        self._buildah("build", *isolated, *options, f"--tag={name}", f"--file={dockerfile}", context)

    def run(self, name: str, project: Path, *command: str) -> str:
        """Run a command in a container of an image, as the image's user, with a folder mounted at /project.

        Returns:
            The command's output.

        Raises:
            RuntimeError: the command failed.
        """
        container = self._buildah("from", "--pull-never", "--signature-policy", self._policy, name).strip()
        mount = f"--volume={project}:/project"
        try:
            return self._buildah("run", "--isolation=chroot", mount, container, "--", *command)
        finally:
            self._buildah("rm", container)

    def save(self, name: str, archive: Path) -> None:
        """Write an image to a Docker archive.

        Raises:
            RuntimeError: there is no such image.
        """
        part = archive.with_suffix(f".{os.getpid()}")
        self._buildah("push", "--signature-policy", self._policy, name, f"docker-archive:{part}:{name}")
        part.rename(archive)

    def _buildah(self, command: str, *arguments: str | Path) -> str:
        places = ("--root", self.folder / "root", "--runroot", self.folder / "run")
        ended = subprocess.run(
            ["buildah", *places, command, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        if ended.returncode:
            raise RuntimeError(f"buildah {command} failed:\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}")
        return ended.stdout


def debian(archive: Path, *packages: str) -> Path:
    """Debian's smallest system and some packages as a tar file, made once.

    Raises:
        subprocess.CalledProcessError: a package is not available.
    """
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        part = archive.with_name(f"{os.getpid()}.tar")
        included = [f"--include={','.join(packages)}"] if packages else []
        subprocess.run(["mmdebstrap", "--variant=minbase", *included, "bookworm", part], check=True)
        part.rename(archive)
    return archive

"""The container images of a test's cluster, built by buildah: Spark's, dbt's by deploy/kubernetes/Dockerfile on top of it,
and the one that holds a pod.

Built once for what they are made of, and kept beside what the tests download.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pyspark

from integration.services.kubernetes.programs import programs
from integration.services.maven import cache

_SPARK = Path(__file__).parent / "spark_image"
# The packages of the image that it stands for; `tini` starts its processes.
_DEBIAN = "bash,ca-certificates,openjdk-17-jre-headless,procps,python3,python3-pip,tini"
_PAUSE_DOCKERFILE = 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n'
_CERTIFICATES = "/etc/ssl/certs"


def pause(name: str) -> Path:
    """The archive of the image that holds a pod.

    Args:
        name: what the node calls it.
    """
    program = programs() / "pause"
    archive = _archive("pause", [program])
    if not archive.exists():
        context = _empty("pause-context")
        shutil.copy2(program, context / "pause")
        (context / "Dockerfile").write_text(_PAUSE_DOCKERFILE)
        _build(name, context, context / "Dockerfile")
        _save(name, archive)
    return archive


def project(name: str, folder: Path, dockerfile: Path, base: str, wheels: Path, *arguments: str) -> Path:
    """The archive of the image that a Dockerfile makes of a dbt project.

    Args:
        name: what the manifests call it.
        folder: the root of the project.
        dockerfile: deploy/kubernetes/Dockerfile.
        base: the image in its FROM.
        wheels: a folder of wheels that pip takes beside its registry's.
        arguments: build arguments, `NAME=value`.
    """
    made_of = [path for root in (_SPARK, folder, wheels) for path in root.rglob("*") if path.is_file()]
    archive = _archive("dbt", [*made_of, dockerfile])
    if not archive.exists():
        _build_spark(base)
        pip = _empty("pip") / "pip.conf"
        pip.write_text("[global]\nfind-links = /wheels\n")
        given = (f"--volume={pip}:/etc/pip.conf:ro", f"--volume={wheels}:/wheels:ro")
        _build(name, folder, dockerfile, *given, *(f"--build-arg={argument}" for argument in arguments))
        _save(name, archive)
    return archive


def _build_spark(name: str) -> None:
    context = cache() / "kubernetes" / "spark-context"
    context.mkdir(parents=True, exist_ok=True)
    debian = context / "debian.tar"
    if not debian.exists():
        part = debian.with_name(f"{os.getpid()}.tar")
        subprocess.run(
            ["mmdebstrap", "--variant=minbase", f"--include={_DEBIAN}", "bookworm", part], check=True
        )
        part.rename(debian)
    shutil.copy2(_SPARK / "entrypoint.sh", context)
    _build(name, context, _SPARK / "Dockerfile", f"--build-context=pyspark={Path(pyspark.__file__).parent}")


def _buildah(command: str, *arguments: str | Path) -> None:
    store = cache() / "kubernetes" / "buildah"
    store.mkdir(parents=True, exist_ok=True)
    policy = store / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    ended = subprocess.run(
        [
            *("buildah", "--root", store / "root", "--runroot", store / "run"),
            *(command, "--signature-policy", policy, *arguments),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise RuntimeError(f"buildah {command} failed:\n{ended.stdout[-3000:]}")


def _build(name: str, context: Path, dockerfile: Path, *options: str) -> None:
    _buildah(
        "build",
        # No namespaces for a build, so that it works in a container, too.
        "--isolation=chroot",
        "--pull=never",
        "--layers",
        # What this machine trusts, behind a proxy, for example.
        f"--volume={_CERTIFICATES}:{_CERTIFICATES}:ro",
        *options,
        f"--tag={name}",
        f"--file={dockerfile}",
        context,
    )


def _save(name: str, archive: Path) -> None:
    for old in archive.parent.glob(f"{archive.name.rpartition('-')[0]}-*"):
        old.unlink()
    part = archive.with_suffix(f".{os.getpid()}")
    _buildah("push", name, f"docker-archive:{part}:{name}")
    part.rename(archive)


def _archive(kind: str, made_of: Iterable[Path]) -> Path:
    digest = hashlib.sha256()
    for path in sorted(made_of):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    folder = cache() / "kubernetes" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{kind}-{digest.hexdigest()[:16]}.tar"


def _empty(name: str) -> Path:
    folder = cache() / "kubernetes" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder

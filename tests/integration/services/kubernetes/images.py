"""The container images of a test's cluster: Spark, dbt on top of it (deploy/kubernetes/Dockerfile), and `pause`.

They are cached, and built again only if their content changes.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

import pyspark

from integration.services.buildah import Images, debian
from integration.services.kubernetes.programs import programs
from integration.services.maven import cache

_SPARK = Path(__file__).parent / "spark_image"
# The packages of Spark's official image, which this one replaces; `tini` is its init process.
_PACKAGES = ("bash", "ca-certificates", "openjdk-17-jre-headless", "procps", "python3", "python3-pip", "tini")
_PAUSE_DOCKERFILE = 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n'
_CERTIFICATES = "/etc/ssl/certs"


def pause(name: str) -> Path:
    """The archive of the image whose container holds a pod's namespaces.

    Args:
        name: the image's name on the node.
    """
    program = programs() / "pause"
    archive = _archive("pause", [program])
    if not archive.exists():
        context = _empty("pause-context")
        shutil.copy2(program, context / "pause")
        (context / "Dockerfile").write_text(_PAUSE_DOCKERFILE)
        _build(name, context / "Dockerfile", context)
        _save(name, archive)
    return archive


def project(name: str, folder: Path, dockerfile: Path, base: str, wheels: Path, *arguments: str) -> Path:
    """The archive of the image of a dbt project.

    Args:
        name: the image's name in the manifests.
        folder: the root of the project.
        dockerfile: deploy/kubernetes/Dockerfile.
        base: the image in the Dockerfile's FROM.
        wheels: a folder with further wheels for pip.
        arguments: build arguments, `NAME=value`.
    """
    made_of = [path for root in (_SPARK, folder, wheels) for path in root.rglob("*") if path.is_file()]
    archive = _archive("dbt", [*made_of, dockerfile])
    if not archive.exists():
        _build_spark(base)
        pip = _empty("pip") / "pip.conf"
        pip.write_text("[global]\nfind-links = /wheels\n")
        # Without cached layers: pip's layer might hold an older wheel of the same name.
        given = (f"--volume={pip}:/etc/pip.conf:ro", f"--volume={wheels}:/wheels:ro")
        _build(name, dockerfile, folder, *given, *(f"--build-arg={argument}" for argument in arguments))
        _save(name, archive)
    return archive


def _build_spark(name: str) -> None:
    context = cache() / "kubernetes" / "spark-context"
    debian(context / "debian.tar", *_PACKAGES)
    shutil.copy2(_SPARK / "entrypoint.sh", context)
    files = f"--build-context=pyspark={Path(pyspark.__file__).parent}"
    _build(name, _SPARK / "Dockerfile", context, "--layers", files)


def _images() -> Images:
    return Images(cache() / "kubernetes" / "buildah")


def _build(name: str, dockerfile: Path, context: Path, *options: str) -> None:
    # The certificates that this machine trusts, for example a proxy's.
    trusted = f"--volume={_CERTIFICATES}:{_CERTIFICATES}:ro"
    _images().build(name, dockerfile, context, trusted, *options)


def _save(name: str, archive: Path) -> None:
    for old in archive.parent.glob(f"{archive.name.rpartition('-')[0]}-*"):
        old.unlink()
    _images().save(name, archive)


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

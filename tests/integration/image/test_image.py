"""deploy/docker/Dockerfile, built and used as docs/deployment.md says: dbt from the wheel, not run as root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from integration.services.buildah import Images, debian
from integration.services.maven import cache

ROOT = Path(__file__).parents[3]
DEBIAN = "docker.io/library/debian:bookworm-slim"
IMAGE = "dbt-paimon"
USER = 1000
UPSERTED = """
{{ config(materialized='incremental', primary_key='id') }}
select id, {{ var('step') }} as step from range(10) {% if is_incremental() %} where id < 4 {% endif %}
"""
QUERY = "select step, count(*) as n from {{ ref('upserted') }} group by step order by step"

# Behind a proxy, pip needs this machine's certificates. dbt-core 1.12 requires a package whose source distribution
# downloads a binary, which not every network allows.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PIP = "[global]\ncert = /host/certificates\nconstraint = /host/constraints\n"
CONSTRAINTS = "dbt-core<1.12\n"

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Images:
    context = tmp_path_factory.mktemp("context")
    subprocess.run(
        ["uv", "build", "--quiet", "--wheel", "--out-dir", str(context / "dist"), str(ROOT)],
        check=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    (wheel,) = (context / "dist").glob("*.whl")
    built = Images(tmp_path_factory.mktemp("images"))
    base = tmp_path_factory.mktemp("base")
    shutil.copy(debian(cache() / "debian-bookworm.tar"), base / "debian.tar")
    (base / "Dockerfile").write_text("FROM scratch\nADD debian.tar /\n")
    built.build(DEBIAN, base / "Dockerfile", base)
    (base / "pip.conf").write_text(PIP)
    (base / "constraints").write_text(CONSTRAINTS)
    mounted = {
        base / "pip.conf": "/etc/pip.conf",
        base / "constraints": "/host/constraints",
        CERTIFICATES: "/host/certificates",
    }
    volumes = [f"--volume={source}:{target}:ro" for source, target in mounted.items()]
    package = f"--build-arg=DBT_PAIMON=./dist/{wheel.name}[session]"
    built.build(IMAGE, ROOT / "deploy" / "docker" / "Dockerfile", context, package, *volumes)
    return built


@pytest.fixture
def project(tmp_path: Path) -> Path:
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": "boxed",
        "warehouse": "/project/lake",
    }
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"it": {"target": "it", "outputs": {"it": target}}}))
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "boxed", "profile": "it"}))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "upserted.sql").write_text(UPSERTED)
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, USER, USER)
    return tmp_path


def test_dbt_in_the_image(images: Images, project: Path) -> None:
    for step in (1, 2):
        images.run(IMAGE, project, "dbt", "run", "--vars", f"step: {step}")
    shown = images.run(
        IMAGE, project, "dbt", "--quiet", "show", "--output", "json", "--vars", "step: 2", "--inline", QUERY
    )
    assert json.loads(shown)["show"] == [{"step": 1, "n": 6}, {"step": 2, "n": 4}]
    # No file belongs to root, and no jar was downloaded.
    assert {path.stat().st_uid for path in (project / "lake").rglob("*")} == {USER}
    assert images.run(IMAGE, project, "find", "/home/dbt", "-name", "*.jar") == ""

"""The storage goes away while a model writes: a clear error after bounded retries, and the old rows are intact."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from dbt.tests.util import run_dbt

from integration.services.forwarder import Forwarder, forwarding
from integration.services.hdfs import Hdfs
from integration.services.oss import Oss
from integration.services.process import LOOPBACK
from integration.services.s3 import S3
from integration.storage.conftest import Warehouse, on_hdfs, on_oss, on_s3

# The limit for all retries together, on a busy machine.
SECONDS = 600
# The model's query signals that it runs, and waits until the storage is gone.
WAITS = "touch {{ var('signs') }}/runs; for i in $(seq 600); do [ -e {{ var('signs') }}/gone ] && break; sleep 0.1; done; cat"


class TestOutage:
    @pytest.fixture(
        scope="class",
        params=[
            "object_store",
            *(pytest.param(name, marks=pytest.mark.full) for name in ("hadoop", "aliyun")),
        ],
    )
    def service(self, request) -> S3 | Hdfs | Oss:
        return request.getfixturevalue(request.param)

    @pytest.fixture(scope="class")
    def way(self, service: S3 | Hdfs | Oss) -> Iterator[Forwarder]:
        address = service.address if isinstance(service, Hdfs) else service.endpoint
        with forwarding(urlsplit(address).port or 0) as way:
            yield way

    @pytest.fixture(scope="class")
    def storage(self, service: S3 | Hdfs | Oss, way: Forwarder) -> Warehouse:
        if isinstance(service, Hdfs):
            return on_hdfs(dataclasses.replace(service, address=f"hdfs://{LOOPBACK}:{way.port}"), "outage")
        endpoint = f"http://{LOOPBACK}:{way.port}"
        if isinstance(service, Oss):
            return on_oss(dataclasses.replace(service, endpoint=endpoint), "outage")
        return on_s3(dataclasses.replace(service, endpoint=endpoint), "outage")

    @pytest.fixture(scope="class")
    def models(self):
        query = f'select transform(id) using "{WAITS}" as (id bigint) from range(0, 5, 1, 1)'
        return {
            "written.sql": "{{ config(materialized='table') }} "
            f"{{% if var('signs', '') %}} {query} {{% else %}} select id from range(0, 3) {{% endif %}}"
        }

    def test_old_rows_are_whole(self, project, rows, way: Forwarder, tmp_path, capfd):
        run_dbt(["run"])

        def goes_away() -> None:
            while not (tmp_path / "runs").exists():
                time.sleep(0.1)
            way.shut()
            (tmp_path / "gone").touch()

        threading.Thread(target=goes_away, daemon=True).start()
        began = time.monotonic()
        (result,) = run_dbt(["run", "--vars", f"signs: {tmp_path}"], expect_pass=False)
        assert time.monotonic() - began < SECONDS
        assert (tmp_path / "gone").exists()
        assert "does not answer" in result.message
        assert "\tat " not in capfd.readouterr().out

        way.open()
        assert sorted(rows("select id from {schema}.written")) == [(0,), (1,), (2,)]
        run_dbt(["run", "--vars", f"signs: {tmp_path}"])
        assert sorted(rows("select id from {schema}.written")) == [(n,) for n in range(5)]

"""Leases on a real S3 server: one holder at a time, takeover after they expire, and one error for a lost lease."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs import lock_places, s3_objects, storage
from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.s3_objects import NoConditionsError, S3Objects
from dbt.adapters.paimon.concurrency import leases
from dbt.adapters.paimon.concurrency.leases import LeaseLostError, Leases, Watchdog
from dbt.adapters.paimon.concurrency.locks import FOLDER, TableLocks
from dbt.adapters.paimon.machine.waiting import WaitedTooLongError
from integration.services.forwarder import Forwarder, forwarding
from integration.services.process import LOOPBACK
from integration.services.s3 import S3, s3

# HTTP's times are whole seconds, so a lease cannot be much shorter.
SECONDS = 2.0
# For leases that guard a statement: a missed renewal stops the statement a third of this later, and CI is slow.
LONGER = 6.0
# The lease of a dead holder is taken within this time; rounding to whole seconds adds at most three.
TAKEN_WITHIN = SECONDS + leases.GRACE + 3
NAME = "`paimon`.`s`.`t`"

HOLD = """
import json, sys
from dbt.adapters.paimon.concurrency.locks import TableLocks
from unit.test_leases import NAME, S3, leases_in
locks = TableLocks()
locks.hold(NAME, leases_in(S3(**json.loads(sys.argv[1]))))
print("held", flush=True)
sys.stdin.readline()
locks.release()
print("released", flush=True)
sys.stdin.readline()
"""


def storage_in(store: S3, folder: str = "lake", **options: str) -> storage.Storage:
    lake = SparkCatalog(
        "paimon", "filesystem", f"s3://{store.bucket}/{folder}", None, {**store.catalog_options(), **options}
    )
    return storage.storage_of(lake, storage.StorageContext({}, (), {}))


def no_watchdog(name: str, seconds: float | None) -> None:
    """A watchdog that does nothing."""


def leases_in(store: S3, watchdog: Watchdog = no_watchdog, seconds: float = SECONDS) -> Leases:
    return Leases(s3_objects.s3_objects(storage_in(store), FOLDER), watchdog, seconds)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3(tmp_path_factory.mktemp("s3")) as service:
        yield service


@pytest.fixture
def store(server: S3) -> Iterator[S3]:
    """An empty bucket; the test must have released all leases when it ends."""
    yield server
    assert leases.of_this_thread() == []
    client = server.client()
    for key in server.keys(""):
        client.delete_object(Bucket=server.bucket, Key=key)


@pytest.fixture
def other(store: S3) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the table; a line of input makes it release."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, json.dumps(dataclasses.asdict(store))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def releases(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "released\n"


def seconds_of(run: Callable[[], Any]) -> float:
    began = time.monotonic()
    run()
    return time.monotonic() - began


def eventually(true: Callable[[], Any]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_one_at_a_time(store: S3) -> None:
    """Several threads ask for the lease at once, each through a new client."""
    held: list[int] = []
    most: list[int] = []

    def hold(number: int) -> None:
        locks = TableLocks()
        for _ in range(3):
            locks.hold(NAME, leases_in(store))
            held.append(number)
            most.append(len(held))
            held.remove(number)
            locks.release()

    threads = [threading.Thread(target=hold, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert most == [1] * 12


def test_the_catalog_may_have_another_name(store: S3) -> None:
    mine, others = TableLocks(), TableLocks(bound=0.2)
    mine.hold("`paimon`.`s`.`t`", leases_in(store))
    with pytest.raises(WaitedTooLongError, match=r"another run is writing.*process \d+ on .*lock_timeout"):
        others.hold("`lake`.`s`.`t`", leases_in(store))
    others.hold("`lake`.`s`.`u`", leases_in(store))
    others.release()
    mine.release()
    others.hold("`lake`.`s`.`t`", leases_in(store))
    others.release()


def test_a_lease_is_renewed(store: S3) -> None:
    mine, others = TableLocks(), TableLocks(bound=SECONDS + leases.GRACE + 2)
    mine.hold(NAME, leases_in(store))
    with pytest.raises(WaitedTooLongError):
        others.hold(NAME, leases_in(store))
    mine.release()


def test_whether_another_has_written(store: S3, other: subprocess.Popen[str]) -> None:
    mine = TableLocks()
    releases(other)
    assert mine.hold(NAME, leases_in(store))
    mine.release()
    assert not mine.hold(NAME, leases_in(store))
    mine.release()
    time.sleep(2.1)
    later = TableLocks()
    assert not later.hold(NAME, leases_in(store))
    later.release()


def test_a_killed_process_is_waited_for_until_its_lease_has_run_out(store: S3, other: subprocess.Popen[str]) -> None:
    other.kill()
    locks = TableLocks()
    took = seconds_of(lambda: locks.hold(NAME, leases_in(store)))
    # The last renewal was at most a third of the lease ago.
    assert SECONDS * 2 / 3 < took < TAKEN_WITHIN + 2
    locks.release()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no such signal")
def test_a_stopped_process_loses_its_lease(store: S3, other: subprocess.Popen[str]) -> None:
    os.kill(other.pid, signal.SIGSTOP)
    locks = TableLocks()
    locks.hold(NAME, leases_in(store))
    os.kill(other.pid, signal.SIGCONT)
    time.sleep(SECONDS)
    # The continued process neither takes the lease back nor releases ours.
    with pytest.raises(WaitedTooLongError):
        TableLocks(bound=1).hold(NAME, leases_in(store))
    locks.release()


def test_a_stream_that_died_differs_from_one_that_runs(store: S3, other: subprocess.Popen[str]) -> None:
    locks = TableLocks()
    assert not locks.take(NAME, leases_in(store))
    other.kill()
    assert locks.take(NAME, leases_in(store))
    locks.release()


class TestLost:
    @pytest.fixture
    def way(self, store: S3) -> Iterator[Forwarder]:
        with forwarding(urlsplit(store.endpoint).port or 0) as way:
            yield way

    # The seconds that the watchdog was armed with, in order; None disarms it.
    @pytest.fixture
    def burnt(self) -> list[float | None]:
        return []

    @pytest.fixture
    def locks(self, store: S3, way: Forwarder, burnt: list[float | None]) -> Iterator[TableLocks]:
        """Locks that hold the table, over a connection that can be cut."""
        locks = TableLocks()
        reached = dataclasses.replace(store, endpoint=f"http://{LOOPBACK}:{way.port}")
        locks.hold(NAME, leases_in(reached, lambda name, seconds: burnt.append(seconds), LONGER))
        yield locks
        locks.release()

    def test_a_statement_is_stopped_before_another_may_write(
        self, store: S3, locks: TableLocks, way: Forwarder, burnt: list[float | None]
    ) -> None:
        stopped = threading.Event()
        others = TableLocks()
        way.shut()

        def run() -> None:
            with leases.guarded(stopped.set, lambda: None):
                assert stopped.wait(60)
                raise InterruptedError

        with pytest.raises(LeaseLostError, match=r"`s`.`t`: this run lost its lock in s3://warehouse/lake/"):
            run()
        # The watchdog was disarmed before it had to end Spark.
        assert burnt[-1] is None
        with pytest.raises(LeaseLostError), leases.guarded(pytest.fail, pytest.fail):
            pytest.fail("a statement began without the lock")
        others.hold(NAME, leases_in(store))
        way.open()
        with pytest.raises(LeaseLostError), leases.guarded(pytest.fail, pytest.fail):
            pytest.fail("a statement began without the lock")
        others.release()

    def test_a_lost_lease_is_regained_if_no_other_run_took_it(self, locks: TableLocks, way: Forwarder) -> None:
        (lease,) = leases.of_this_thread()
        way.shut()
        eventually(lambda: lease.lost)
        way.open()
        eventually(lambda: not lease.lost)
        with leases.guarded(pytest.fail, pytest.fail):
            pass

    def test_a_statement_that_succeeds_despite_the_stop_fails(self, locks: TableLocks, way: Forwarder) -> None:
        stopped = threading.Event()
        way.shut()
        with pytest.raises(LeaseLostError), leases.guarded(stopped.set, lambda: None):
            assert stopped.wait(60)

    def test_the_watchdog_is_postponed_and_then_disarmed(self, locks: TableLocks, burnt: list[float | None]) -> None:
        eventually(lambda: len(burnt) > 2)
        assert all(seconds is not None and 0 < seconds < LONGER for seconds in burnt)
        locks.release()
        assert burnt[-1] is None

    def test_a_short_outage_does_no_harm(self, locks: TableLocks, way: Forwarder) -> None:
        with leases.guarded(pytest.fail, pytest.fail):
            way.shut()
            time.sleep(LONGER / 3)
            way.open()
            time.sleep(LONGER)


class Deaf:
    """A client of a store that ignores the conditions of writes."""

    def __init__(self, client: Any) -> None:
        self.get_object = client.get_object
        self._put = client.put_object

    def put_object(self, **given: Any) -> Any:
        return self._put(**{key: value for key, value in given.items() if not key.startswith("If")})


class TestAskingTheStore:
    def test_a_store_that_keeps_conditions(self, store: S3) -> None:
        for _ in range(2):
            assert lock_places.why_no_leases(storage_in(store)) == ""
        assert store.keys() == [f"lake/{FOLDER}/probe"]

    def test_a_store_that_ignores_conditions(self, store: S3) -> None:
        deaf = S3Objects(Deaf(store.client()), f"s3://{store.bucket}/lake/{FOLDER}")
        with pytest.raises(NoConditionsError, match="ignores the condition of a write"):
            deaf.require_conditional_writes()

    @pytest.mark.parametrize("key", ["s3.secret-key", "s3.access-key"])
    def test_a_store_that_refuses_the_keys(self, store: S3, key: str) -> None:
        why = lock_places.why_no_leases(storage_in(store, **{key: "no-such-key"}))
        assert "does not accept conditional writes" in why
        assert "no-such-key" not in why

    def test_there_is_no_bucket(self, store: S3) -> None:
        assert "NoSuchBucket" in lock_places.why_no_leases(storage_in(dataclasses.replace(store, bucket="none")))

    def test_a_store_that_does_not_answer(self, store: S3) -> None:
        with forwarding(1) as way:
            nowhere = f"http://{LOOPBACK}:{way.port}"
        with pytest.raises(DbtRuntimeError, match=r"does not answer.*s3_lock: false"):
            lock_places.leases_of(storage_in(store, **{"s3.endpoint": nowhere}), no_watchdog)

    def test_botocore_is_missing(self, store: S3, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "botocore.session", None)
        assert "pip install 'dbt-paimon[s3]'" in lock_places.why_no_leases(storage_in(store))

    @pytest.mark.parametrize(
        ("warehouse", "metastore", "s3_lock", "needed"),
        [
            ("s3://b/w", "filesystem", None, True),
            ("s3a://b/w", "filesystem", True, True),
            ("s3://b/w", "filesystem", False, False),
            ("s3://b/w", "hive", None, False),
            ("oss://b/w", "filesystem", None, False),
            ("/data/w", "filesystem", True, False),
            ("hdfs://n/w", "filesystem", None, False),
        ],
    )
    def test_needs_leases(self, warehouse: str, metastore: str, s3_lock: bool | None, needed: bool) -> None:
        catalog = SparkCatalog("paimon", metastore, warehouse, None, {})
        assert lock_places.needs_leases(catalog, s3_lock) is needed


class TestSettings:
    """The client gets the same settings as Paimon's plug-in."""

    def client(
        self,
        options: dict[str, str],
        conf: dict[str, str] | None = None,
        jars: tuple[str, ...] = (),
        **environ: str,
    ) -> Any:
        lake = SparkCatalog("paimon", "filesystem", "s3a://b/w", None, options)
        around = storage.StorageContext(conf or {}, jars, environ)
        return s3_objects.s3_objects(storage.storage_of(lake, around), FOLDER)._client

    def keys(self, client: Any) -> tuple[str, str, str | None]:
        keys = client._request_signer._credentials
        return keys.access_key, keys.secret_key, keys.token

    def test_of_the_profile(self) -> None:
        client = self.client(
            {
                "s3.access.key": "id",
                "s3.secret-key": "hush",
                "s3.endpoint": "store:9000",
                "s3.connection.ssl.enabled": "false",
                "s3.path-style-access": "true",
            },
            AWS_ACCESS_KEY_ID="other",
        )
        assert self.keys(client) == ("id", "hush", None)
        assert client.meta.endpoint_url == "http://store:9000"
        assert client.meta.config.s3["addressing_style"] == "path"

    def test_a_proxy_with_a_login(self) -> None:
        login = {"s3.proxy.username": "a/b", "s3.proxy.password": "p@ss:w#rd"}
        client = self.client({"s3.proxy.host": "gate", "s3.proxy.port": "3128", **login})
        assert client.meta.config.proxies["https"] == "http://a%2Fb:p%40ss%3Aw%23rd@gate:3128"

    def test_of_hadoop_which_reads_the_warehouse_itself(self) -> None:
        conf = {"spark.hadoop.fs.s3a.access.key": "id", "spark.hadoop.fs.s3a.secret.key": "hush"}
        client = self.client(
            {}, {**conf, "spark.hadoop.fs.s3a.endpoint.region": "eu-west-1"}, ("hadoop-aws-3.3.4.jar",)
        )
        assert self.keys(client) == ("id", "hush", None)
        assert client.meta.region_name == "eu-west-1"

    def test_of_the_environment(self) -> None:
        client = self.client(
            {},
            AWS_ACCESS_KEY_ID="id",
            AWS_SECRET_ACCESS_KEY="hush",
            AWS_SESSION_TOKEN="t",
            AWS_ENDPOINT_URL_S3="https://h",
        )
        assert self.keys(client) == ("id", "hush", "t")
        assert client.meta.endpoint_url == "https://h"

    def test_of_a_provider(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the machine's")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
        monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
        chain = "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"
        assert self.keys(self.client({"s3.aws.credentials.provider": chain})) == (
            "the machine's",
            "hush",
            None,
        )

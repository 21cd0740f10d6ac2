"""A server process with S3's protocol (moto), one user and one bucket; it checks the signature of every request."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from integration.services.process import LOOPBACK, free_port, running

REGION = "us-east-1"
# The environment variable with the file to which the server logs each request's signed region.
SIGNED = "S3_SERVER_SIGNED"
# The number of requests in the set-up below, which moto does not authenticate.
_UNCHECKED_REQUESTS = 4


@dataclass(frozen=True)
class S3:
    """The server's address, its user's keys, its bucket, and its log of the regions that requests were signed for."""

    endpoint: str
    access_key: str
    secret_key: str
    bucket: str
    signed: str

    def client(self, service: str = "s3") -> Any:
        """A boto3 client with the user's keys."""
        import boto3

        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
        )

    def keys(self, prefix: str = "") -> list[str]:
        """The names of the objects below a prefix, without the empty objects that represent folders."""
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        found = (item["Key"] for page in pages for item in page.get("Contents", ()))
        return sorted(key for key in found if not key.endswith("/"))

    def regions(self, prefix: str) -> dict[str, set[str]]:
        """The regions that requests below a prefix were signed for, by client (`aws-sdk-java`, `Botocore`)."""
        found: dict[str, set[str]] = {}
        for line in Path(self.signed).read_text().splitlines():
            request = json.loads(line)
            if f"{prefix}/" in unquote(request["url"]):
                client = re.search(r"aws-sdk-java|Botocore", request["agent"])
                found.setdefault(client[0] if client else request["agent"], set()).add(request["region"])
        return found

    def catalog_options(self) -> dict[str, str]:
        """A profile's catalog options for this server."""
        return {
            "s3.endpoint": self.endpoint,
            "s3.access-key": self.access_key,
            "s3.secret-key": self.secret_key,
            "s3.path.style.access": "true",
        }


@contextlib.contextmanager
def s3(folder: Path, bucket: str = "warehouse", port: int | None = None, interface: str = LOOPBACK) -> Iterator[S3]:
    """Run a server with an empty bucket; its objects are lost when the block ends.

    Args:
        folder: for its log.
        bucket: the name of the bucket.
        port: where it listens; a free port if not given.
        interface: the address that it listens on; it must include the loopback interface.

    Raises:
        RuntimeError: the server did not start.
    """
    port = port or free_port()
    tests = Path(__file__).parents[2]
    command = [sys.executable, "-m", "integration.services.s3_server", "-H", interface, "-p", str(port)]
    signed = str(folder.resolve() / "signed.jsonl")
    env = {
        "INITIAL_NO_AUTH_ACTION_COUNT": str(_UNCHECKED_REQUESTS),
        "AWS_DEFAULT_REGION": REGION,
        SIGNED: signed,
    }
    with running(command, folder / "s3.log", [port], env=env, cwd=tests):
        unchecked = S3(f"http://{LOOPBACK}:{port}", "anybody", "anybody", bucket, signed)
        users = unchecked.client("iam")
        users.create_user(UserName="dbt")
        everything = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}],
        }
        users.put_user_policy(UserName="dbt", PolicyName="all", PolicyDocument=json.dumps(everything))
        key = users.create_access_key(UserName="dbt")["AccessKey"]
        unchecked.client().create_bucket(Bucket=bucket)
        yield S3(unchecked.endpoint, key["AccessKeyId"], key["SecretAccessKey"], bucket, signed)

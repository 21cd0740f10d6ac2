"""A server process with Aliyun OSS's protocol, one user and one bucket; it checks the signature of every request."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import os
import sys
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from urllib.parse import quote, urlencode

from integration.services.process import LOOPBACK, free_port, running

ACCESS_KEY, SECRET_KEY = "OSS_SERVER_ACCESS_KEY", "OSS_SERVER_SECRET_KEY"
# The query parameters that are part of the signature, as far as this server knows them. A listing's are not
# (com.aliyun.oss.internal.SignParameters).
_SIGNED = {"continuation-token", "delete", "location", "partNumber", "security-token", "uploadId", "uploads"}
_SECONDS = 30


def signature(
    secret_key: str,
    method: str,
    path: str,
    parameters: Iterable[tuple[str, str | None]],
    headers: Mapping[str, str],
) -> str:
    """OSS's signature, version 1 (com.aliyun.oss.internal.SignUtils).

    Args:
        path: `/bucket/key`, decoded.
        parameters: the decoded query parameters; None for one without a value.
        headers: their names in lower case.
    """
    named = [headers.get(name, "").strip() for name in ("content-md5", "content-type", "date")]
    own = [f"{name}:{headers[name].strip()}" for name in sorted(headers) if name.startswith("x-oss-")]
    asked = [
        name if value is None else f"{name}={value}"
        for name, value in sorted(parameters, key=lambda parameter: parameter[0])
        if name in _SIGNED
    ]
    resource = path + ("?" + "&".join(asked) if asked else "")
    text = "\n".join([method, *named, *own, resource])
    return base64.b64encode(hmac.new(secret_key.encode(), text.encode(), hashlib.sha1).digest()).decode()


@dataclass(frozen=True)
class Oss:
    """The server's address, its user's keys and its bucket."""

    endpoint: str
    access_key: str
    secret_key: str
    bucket: str

    def request(self, method: str, key: str = "", parameters: Mapping[str, str] | None = None) -> bytes:
        """Send a signed request; returns the body of the answer.

        Raises:
            urllib.error.HTTPError: the server refuses the request.
        """
        path = f"/{self.bucket}/{key}"
        query = dict(parameters or {})
        headers = {"date": formatdate(usegmt=True), "content-type": "application/octet-stream"}
        signed = signature(self.secret_key, method, path, query.items(), headers)
        url = f"{self.endpoint}{quote(path)}?{urlencode(query)}"
        sent = {**headers, "authorization": f"OSS {self.access_key}:{signed}"}
        with urllib.request.urlopen(
            urllib.request.Request(url, method=method, headers=sent), timeout=_SECONDS
        ) as answer:
            return bytes(answer.read())

    def keys(self, prefix: str = "") -> list[str]:
        """The names of the objects below a prefix, without the empty objects that represent folders."""
        found: list[str] = []
        parameters = {"list-type": "2", "prefix": prefix}
        while True:
            page = ET.fromstring(self.request("GET", parameters=parameters))
            found += [item.findtext("Key", "") for item in page.iterfind("Contents")]
            following = page.findtext("NextContinuationToken")
            if not following:
                return sorted(key for key in found if not key.endswith("/"))
            parameters["continuation-token"] = following

    def catalog_options(self) -> dict[str, str]:
        """A profile's catalog options for this server."""
        return {
            # If the host is an IP address, the SDK puts the bucket into the path (OSSClient.setEndpoint).
            "fs.oss.endpoint": self.endpoint,
            "fs.oss.accessKeyId": self.access_key,
            "fs.oss.accessKeySecret": self.secret_key,
        }


@contextlib.contextmanager
def oss(folder: Path, bucket: str = "warehouse") -> Iterator[Oss]:
    """Run a server with an empty bucket; its objects are lost when the block ends.

    Args:
        folder: for its log.
        bucket: the name of the bucket.

    Raises:
        RuntimeError: the server did not start.
    """
    port = free_port()
    service = Oss(f"http://{LOOPBACK}:{port}", "LTAI" + os.urandom(8).hex(), os.urandom(15).hex(), bucket)
    command = [sys.executable, "-m", "integration.services.oss_server", LOOPBACK, str(port)]
    env = {ACCESS_KEY: service.access_key, SECRET_KEY: service.secret_key}
    with running(command, folder / "oss.log", [port], env=env, cwd=Path(__file__).parents[2]):
        service.request("PUT")
        yield service

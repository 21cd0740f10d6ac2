"""moto's server, changed so that it can check the signatures of Java's SDK; it takes moto's arguments.

`python -m integration.services.s3_server`. moto computes the expected signature with botocore, from the parsed request.
This fails for Java's SDK in two ways: botocore leaves out some headers that Java signs, and moto has decoded the query.

Puts run one at a time, because two conditional puts at once would both succeed in moto's threads. The server records
the region that each request is signed for.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import botocore.auth
import flask
from moto.iam.access_control import S3IAMRequest
from moto.s3.responses import S3Response
from moto.server import main

from integration.services.s3 import SIGNED


class _AsSent(botocore.auth.S3SigV4Auth):
    """Signature Version 4 of the undecoded query."""

    def canonical_query_string(self, request: Any) -> str:
        sent = parse_qsl(flask.request.environ["QUERY_STRING"], keep_blank_values=True)
        pairs = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in sent)
        return "&".join(f"{name}={value}" for name, value in pairs)


def _auth(self: S3IAMRequest, credentials: Any) -> _AsSent:
    # Only the signature says which region a request is for: in moto, each region has all buckets.
    signed = {
        "region": self._region,
        "agent": flask.request.user_agent.string,
        "url": flask.request.full_path,
    }
    with Path(os.environ[SIGNED]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(signed) + "\n")
    return _AsSent(credentials, self._service, self._region)


_PUTS = threading.Lock()
_put_object = S3Response.put_object


def _one_at_a_time(self: S3Response) -> Any:
    with _PUTS:
        return _put_object(self)


if __name__ == "__main__":
    S3Response.put_object = _one_at_a_time
    botocore.auth.SIGNED_HEADERS_BLACKLIST = []
    S3IAMRequest._create_auth = _auth
    main(sys.argv[1:])

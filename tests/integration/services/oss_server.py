"""OSS's protocol in front of moto's S3 server: `python -m integration.services.oss_server HOST PORT`.

The keys are in the environment. Requests of Aliyun's OSS are like S3's, but have other headers, signatures and errors.
This layer checks the signature and translates the rest.
"""

from __future__ import annotations

import hmac
import io
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote_plus

from moto.moto_server.werkzeug_app import MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

from integration.services.oss import ACCESS_KEY, SECRET_KEY, signature

_REFUSED = {
    "AccessDenied": "You are not allowed to access this object, for it is not signed.",
    "InvalidAccessKeyId": "The OSS Access Key Id you provided does not exist in our records.",
    "SignatureDoesNotMatch": "The request signature we calculated does not match the signature you provided.",
}
# moto serves private objects to requests with any keys.
_ANYBODY = "AWS4-HMAC-SHA256 Credential=anybody/20240101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"

Environ = dict[str, Any]


class OssServer:
    """The WSGI application: passes one user's requests on to the S3 server.

    Args:
        s3: the application that stores the objects.
        access_key: the user's access key.
        secret_key: the user's secret key.
    """

    def __init__(self, s3: Callable[..., Iterable[bytes]], access_key: str, secret_key: str) -> None:
        self._s3 = s3
        self._access_key = access_key
        self._secret_key = secret_key

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = uuid.uuid4().hex[:24].upper()
        if refused := self._why_refused(environ):
            # An unread body would be taken for the connection's next request.
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            headers, body = _of_oss([("Content-Type", "application/xml")], _error(refused), request)
            start_response("403 Forbidden", headers)
            return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
        answer: dict[str, Any] = {}

        def keep(status: str, headers: list[tuple[str, str]], _exc_info: object = None) -> None:
            answer.update(status=status, headers=headers)

        quiet = _asks_for_quiet(environ)
        body = b"".join(self._s3(_of_s3(environ), keep))
        if quiet and answer["status"].startswith("200"):
            # moto lists the deleted objects. In quiet mode, a client treats listed objects as failures.
            body, answer["headers"] = b"", [("Content-Length", "0")]
        headers, body = _of_oss(answer["headers"], body, request)
        start_response(answer["status"], headers)
        return [body]

    def _why_refused(self, environ: Environ) -> str:
        """The error code; empty if the request is the user's."""
        found = re.fullmatch(r"OSS (\w+):(\S+)", environ.get("HTTP_AUTHORIZATION", ""))
        if not found:
            return "AccessDenied"
        if found[1] != self._access_key:
            return "InvalidAccessKeyId"
        expected = signature(
            self._secret_key,
            environ["REQUEST_METHOD"],
            environ["PATH_INFO"].encode("latin-1").decode(),
            _parameters(environ["QUERY_STRING"]),
            _headers(environ),
        )
        return "" if hmac.compare_digest(expected, found[2]) else "SignatureDoesNotMatch"


def _asks_for_quiet(environ: Environ) -> bool:
    """Whether the request deletes several objects and wants no list of them in the answer."""
    if environ["REQUEST_METHOD"] != "POST" or ("delete", None) not in _parameters(environ["QUERY_STRING"]):
        return False
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    environ["wsgi.input"] = io.BytesIO(body)
    return b"<Quiet>true</Quiet>" in body


def _parameters(query: str) -> list[tuple[str, str | None]]:
    pairs = [part.partition("=") for part in query.split("&") if part]
    return [(unquote_plus(name), unquote_plus(value) if sign else None) for name, sign, value in pairs]


def _headers(environ: Environ) -> dict[str, str]:
    sent = {name.removeprefix("HTTP_"): value for name, value in environ.items() if name.startswith("HTTP_")}
    sent["CONTENT_TYPE"] = environ.get("CONTENT_TYPE", "")
    return {name.lower().replace("_", "-"): value for name, value in sent.items()}


def _of_s3(environ: Environ) -> Environ:
    translated = {name.replace("HTTP_X_OSS_", "HTTP_X_AMZ_"): value for name, value in environ.items()}
    return {**translated, "HTTP_AUTHORIZATION": _ANYBODY}


def _of_oss(headers: list[tuple[str, str]], body: bytes, request: str) -> tuple[list[tuple[str, str]], bytes]:
    named = [(re.sub("^x-amz-", "x-oss-", name, flags=re.IGNORECASE), value) for name, value in headers]
    kept = [(name, value) for name, value in named if name.lower() != "x-oss-request-id"]
    if body and any(name.lower() == "content-type" and "xml" in value for name, value in kept):
        body = re.sub(rb' xmlns="http://s3[^"]*"', b"", body)
        body = re.sub(rb"<RequestID>[^<]*</RequestID>", b"", body, flags=re.IGNORECASE)
        body = body.replace(b"</Error>", f"<RequestId>{request}</RequestId></Error>".encode())
        kept = [(name, value) for name, value in kept if name.lower() != "content-length"]
        kept.append(("Content-Length", str(len(body))))
    return [*kept, ("x-oss-request-id", request)], body


def _error(code: str) -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{_REFUSED[code]}</Message></Error>'
    ).encode()


if __name__ == "__main__":
    host, port = sys.argv[1:]
    application = OssServer(create_backend_app("s3"), os.environ[ACCESS_KEY], os.environ[SECRET_KEY])
    run_simple(host, int(port), application, threaded=True, request_handler=MotoRequestHandler)

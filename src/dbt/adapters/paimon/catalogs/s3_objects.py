"""Lease objects in a warehouse on S3, written with conditional writes (If-None-Match, If-Match).

The client is botocore (the extra `s3`), with the same keys, endpoint and addressing style as Paimon's plug-in.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities.artifacts import install_command
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.concurrency.leases import Stored, StoreError
from dbt.adapters.paimon.errors.redaction import redact_text

# Seconds. A lease is renewed every 10 s; if that fails for 21 s, its statement is interrupted.
_CONNECT_TIMEOUT: Final = 2
_READ_TIMEOUT: Final = 4
# Statuses of a failed condition: 409 for concurrent writes (S3's ConditionalRequestConflict), 404 if the object was
# deleted.
_CONDITION_FAILED: Final = frozenset({404, 409, 412})
# Client errors that a retry does not fix: all but 408 (timeout) and 429 (too many requests).
_PERMANENT: Final = frozenset({*range(400, 500)} - {408, 429})
_PROBE: Final = "probe"
_NO_VERSION: Final = '"00000000000000000000000000000000"'
_ANONYMOUS: Final = "AnonymousAWSCredentialsProvider"


class NoConditionsError(DbtRuntimeError):
    """The warehouse cannot hold leases; the message is a clause without a capital letter."""


class _RefusedError(StoreError):
    """The store rejected a request, and a retry would not help."""


class S3Objects:
    """The objects in a folder (a URI) of an S3 bucket, as a `ConditionalStore`."""

    def __init__(self, client: Any, place: str) -> None:
        self._client = client
        self._place = place.rstrip("/")
        address = urlsplit(self._place)
        self._bucket, self._folder = address.netloc, address.path.strip("/")

    @property
    def place(self) -> str:
        return redact_text(self._place)

    def read(self, name: str) -> Stored | None:
        found = self._answer(self._client.get_object, name, frozenset({404}))
        return None if found is None else Stored(found["content"], found["ETag"], _age(found))

    def create(self, name: str, content: bytes) -> str | None:
        return self._write(name, content, IfNoneMatch="*")

    def replace(self, name: str, content: bytes, version: str) -> str | None:
        return self._write(name, content, IfMatch=version)

    def _write(self, name: str, content: bytes, **condition: str) -> str | None:
        written = self._answer(self._client.put_object, name, _CONDITION_FAILED, Body=content, **condition)
        return None if written is None else str(written["ETag"])

    def require_conditional_writes(self) -> None:
        """Check that the store honors the conditions of a write; raises NoConditionsError if not."""
        try:
            self.create(_PROBE, b"")
            kept = self.create(_PROBE, b"") is None and self.replace(_PROBE, b"", _NO_VERSION) is None
            self.read(_PROBE)
        except _RefusedError as exc:
            raise NoConditionsError(f"{self.place} does not accept conditional writes ({exc})") from exc
        except StoreError as exc:
            raise DbtRuntimeError(
                f"The table locks in {self.place} are not available: {exc}. Nothing was written. Run again when the "
                "store answers, or set `s3_lock: false` in the profile to run without locks."
            ) from exc
        if not kept:
            raise NoConditionsError(
                f"the store of {self.place} ignores the condition of a write (If-None-Match or If-Match)"
            )

    def _answer(self, ask: Any, name: str, absent: frozenset[int], **more: Any) -> dict[str, Any] | None:
        """The response to a request, with its content; None for a status in `absent`. Other errors raise StoreError."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = ask(Bucket=self._bucket, Key=f"{self._folder}/{name}".lstrip("/"), **more)
            return {**answer, "content": answer["Body"].read() if "Body" in answer else b""}
        except ClientError as exc:
            status, code = exc.response["ResponseMetadata"]["HTTPStatusCode"], exc.response["Error"]["Code"]
            if status in absent and code != "NoSuchBucket":
                return None
            error = _RefusedError if status in _PERMANENT or status == 501 else StoreError
            raise error(f"the store rejects the request: {redact_text(str(exc))}") from exc
        except BotoCoreError as exc:
            raise StoreError(f"the store does not answer: {redact_text(str(exc))}") from exc


def s3_objects(storage: Storage, folder: str) -> S3Objects:
    """The objects in a folder of a warehouse on S3; raises NoConditionsError without botocore or valid settings."""
    try:
        import botocore.session
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as exc:
        raise NoConditionsError(
            f"table locks in an S3 bucket need botocore, which is not installed: {install_command('s3')}"
        ) from exc
    options = storage.s3_options
    config = Config(
        connect_timeout=_CONNECT_TIMEOUT,
        read_timeout=_READ_TIMEOUT,
        retries={"total_max_attempts": 1},
        # Stores other than AWS's may not support the checksums that botocore adds.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        # Paimon does not read AWS_ENDPOINT_URL or ~/.aws/config, and the locks have to be where the tables are.
        ignore_configured_endpoint_urls=True,
        **_more_config(options),
    )
    try:
        client = botocore.session.Session().create_client(
            "s3", endpoint_url=_endpoint(options), region_name=_region(options), config=config, **_keys(options)
        )
    except (BotoCoreError, ValueError) as exc:
        raise NoConditionsError(f"botocore cannot use the settings of the warehouse ({redact_text(str(exc))})") from exc
    return S3Objects(client, f"{(storage.warehouse or '').rstrip('/')}/{folder}")


def _more_config(options: Mapping[str, str]) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if options.get("path.style.access", "").lower() == "true":
        more["s3"] = {"addressing_style": "path"}
    if _ANONYMOUS in options.get("aws.credentials.provider", ""):
        from botocore import UNSIGNED

        more["signature_version"] = UNSIGNED
    if host := options.get("proxy.host"):
        # botocore decodes both.
        user, password = (quote(options.get(f"proxy.{each}", ""), safe="") for each in ("username", "password"))
        login = f"{user}:{password}@" if user else ""
        proxy = f"http://{login}{host}:{options.get('proxy.port', '80')}"
        more["proxies"] = {"http": proxy, "https": proxy}
    return more


def _endpoint(options: Mapping[str, str]) -> str | None:
    endpoint = options.get("endpoint") or None
    if endpoint is None or "://" in endpoint:
        return endpoint
    secure = options.get("connection.ssl.enabled", "true").lower() != "false"
    return f"{'https' if secure else 'http'}://{endpoint}"


def _region(options: Mapping[str, str]) -> str | None:
    """The region; us-east-1 for a custom endpoint, where regions have no meaning."""
    return options.get("endpoint.region") or ("us-east-1" if options.get("endpoint") else None)


def _keys(options: Mapping[str, str]) -> dict[str, str]:
    """The keys among the options; without any, botocore looks in the same places as Java's SDK."""
    names = {
        "access-key": "aws_access_key_id",
        "secret-key": "aws_secret_access_key",
        "session.token": "aws_session_token",
    }
    return {name: options[option] for option, name in names.items() if options.get(option)}


def _age(answer: Mapping[str, Any]) -> float:
    """Seconds since the object was written, by the store's clock."""
    try:
        now = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    except (KeyError, TypeError, ValueError) as exc:
        raise _RefusedError("its responses have no Date header") from exc
    return float((now - answer["LastModified"]).total_seconds())

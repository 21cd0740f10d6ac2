"""What of a text nobody else may read: which options are secret, and how their values are kept out of sight."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from dbt_common.constants import SECRET_ENV_PREFIX

MASK: Final = "********"

_SECRET_KEY: Final = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|signature|(^|[._-])sas($|[._-])"
    r"|(access|account|api|encryption|shared|private)[._-]?key|keystore[._-]key",
    re.IGNORECASE,
)
# The same for Spark, which reads Java's expressions: what it leaves out of SET, its UI and SHOW TBLPROPERTIES.
SPARK_REDACTION: Final = f"(?i){_SECRET_KEY.pattern}"
# `https://user:pass@host`, and `…?password=x`, `-Dsome.secret=x`, `;pwd='x'` inside a longer text.
USER_INFO: Final = r"(?<=://)[^/?#\s]+(?=@)"
INLINE: Final = (
    r"([\w.-]*(?:password|passwd|passphrase|pwd|secret|token|access[._-]?key|account[._-]?key|signature)[\w.-]*\s*=\s*)"
    r"(\"[^\"]*\"|'[^']*'|[^\s;&,'\"]+)"
)
_USER_INFO: Final = re.compile(USER_INFO)
_INLINE: Final = re.compile(INLINE, re.IGNORECASE)
# Of a secret among the options of a table.
REFUSAL: Final = (
    "whoever reads the table reads its options, so no secret can be one. Put it under catalog_options or "
    "spark_config of the profile"
)
# Values of options with a secret's name that are none.
_NO_SECRETS: Final = frozenset({"true", "false"})
# A shorter value would blank half of a text.
_SHORTEST: Final = 4


@lru_cache(maxsize=1024)
def is_secret(key: str) -> bool:
    """Whether an option's name says that its value is nobody else's business."""
    return _SECRET_KEY.search(key) is not None


def redact_text(text: str) -> str:
    """Blank user info in URIs and `password=…`-like parts of a text."""
    # What neither expression can find anything in. dbt asks for a target's values again for each macro that it parses.
    if "=" not in text and "://" not in text:
        return text
    return _INLINE.sub(rf"\1{MASK}", _USER_INFO.sub(MASK, text))


def redacted(key: str, value: Any) -> Any:
    """A value as it may be shown: secrets masked by name, in nested options and inside text."""
    if isinstance(value, Mapping):
        return {name: redacted(str(name), item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(key, item) for item in value]
    if value is not None and is_secret(key):
        return MASK
    return redact_text(value) if isinstance(value, str) else value


def is_secret_option(name: str) -> bool:
    """Whether the name of a table's option says so; the name of a column in it says nothing."""
    return is_secret(name) and not name.startswith(("fields.", "file-index."))


def secrets_of(settings: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The secret values of some settings, as a text may have them: also decoded where they stand in a URI.

    Returns:
        Each once, the longest first, so that one that is part of another leaves nothing of that.
    """
    found: set[str] = set()
    for key, value in settings:
        if is_secret(key) and value.lower() not in _NO_SECRETS:
            found.add(value)
        for info in _USER_INFO.findall(value):
            # `user:password`; the name alone is none, unless it is all there is (a token).
            found.add(info.partition(":")[2] or info)
        found.update(quoted.strip("'\"") for _, quoted in _INLINE.findall(value))
    found |= {unquote(value) for value in found}
    return tuple(sorted((v for v in found if len(v) >= _SHORTEST), key=lambda v: (-len(v), v)))


def blank(text: str, secrets: Iterable[str]) -> str:
    """A text without some secrets and without whatever looks like one."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return redact_text(text)


def tell_dbt(secrets: Iterable[str]) -> None:
    """Have dbt itself keep secrets out of its logs, errors and artifacts.

    dbt does so for the values of environment variables whose names begin with DBT_ENV_SECRET, and asks for them
    whenever it writes (dbt_common.exceptions.base.env_secrets). A profile's secrets are as secret, wherever it has them
    from.
    """
    for secret in secrets:
        known = {value for name, value in os.environ.items() if name.startswith(SECRET_ENV_PREFIX)}
        if secret not in known:
            os.environ[f"{SECRET_ENV_PREFIX}_OF_PROFILE_{len(known)}"] = secret

"""Recognizes secret options, and keeps their values out of logs, errors and artifacts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from dbt_common.constants import SECRET_ENV_PREFIX
from dbt_common.dataclass_schema import ValidationError
from dbt_common.exceptions import DbtBaseException

MASK: Final = "********"

_SECRET_KEY: Final = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|signature|(authorization|cookie|assertion)$|(^|[._-])sas($|[._-])"
    r"|(access|account|api|encryption|shared|private)[._-]?key|keystore[._-]key",
    re.IGNORECASE,
)
# Settings about a secret's origin, such as `token.provider: bear`.
_ABOUT_SECRETS: Final = re.compile(r"[._-](provider|loader|path|file|enabled)$", re.IGNORECASE)
# The same as a Java regular expression, for Spark's redaction in SET, its UI and SHOW TBLPROPERTIES.
SPARK_REDACTION: Final = f"(?i){_SECRET_KEY.pattern}"
# `https://user:pass@host`, but not the container in Azure's `abfss://container@account`.
USER_INFO: Final = r"(?<=://)(?:(?<!(?:abfs|wasb)://)(?<!(?:abfss|wasbs)://)|(?=[^/?#\s@]*:))[^/?#\s]+(?=@)"
# `…?password=x`, `-Dsome.secret=x`, `;pwd='x'` within a longer string, and `&sig=x` of a URL that Azure has signed.
INLINE: Final = (
    r"((?:[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|access[._-]?key|account[._-]?key|signature)[\w.-]*"
    r"|(?<=[?&])sig)\s*=\s*)"
    r"(\"[^\"]*\"|'[^']*'|[^\s;&,'\"]+)"
)
_USER_INFO: Final = re.compile(USER_INFO)
_INLINE: Final = re.compile(INLINE, re.IGNORECASE)
# The error for a secret table option.
REFUSAL: Final = (
    "anyone who reads the table can read its options, so they must not hold secrets. Put secrets under "
    "catalog_options or spark_config of the profile"
)
# Values that are not secret, whatever the option's name.
_NO_SECRETS: Final = frozenset({"true", "false"})
# Replacing a shorter value would mask unrelated parts of a message.
_SHORTEST: Final = 4


@lru_cache(maxsize=1024)
def is_secret(key: str) -> bool:
    """Whether an option is secret, by its name."""
    return _SECRET_KEY.search(key) is not None and _ABOUT_SECRETS.search(key) is None


def redact_text(text: str) -> str:
    """Mask user info in URIs, and values as in `password=…`."""
    # A fast path: dbt reads a target's values for each macro that it parses.
    if "=" not in text and "://" not in text:
        return text
    return _INLINE.sub(rf"\1{MASK}", _USER_INFO.sub(MASK, text))


def redacted(key: str, value: Any) -> Any:
    """Mask secrets in a value, by the option's name and within strings, including nested options."""
    if isinstance(value, Mapping):
        return {name: redacted(str(name), item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(key, item) for item in value]
    if value is not None and is_secret(key):
        return MASK
    return _redact_value(value) if isinstance(value, str) else value


# dbt reads a target's values again for each of the thousand macros that it parses.
_redact_value: Final = lru_cache(maxsize=1024)(redact_text)


def is_secret_option(name: str) -> bool:
    """Whether a table option is secret, by its name; column names in it do not count."""
    return is_secret(name) and not name.startswith(("fields.", "file-index."))


def secrets_of(settings: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The secret values in settings, longest first, both as written and URL-decoded."""
    found: set[str] = set()
    for key, value in settings:
        if is_secret(key) and value.lower() not in _NO_SECRETS:
            found.add(value)
        for info in _USER_INFO.findall(value):
            # `user:password`; a user name alone is not secret, unless it is all of the user info (a token).
            found.add(info.partition(":")[2] or info)
        found.update(quoted.strip("'\"") for _, quoted in _INLINE.findall(value))
    found |= {unquote(value) for value in found}
    return tuple(sorted((v for v in found if len(v) >= _SHORTEST), key=lambda v: (-len(v), v)))


def blank(text: str, secrets: Iterable[str]) -> str:
    """Mask these secrets in a text, and anything else that looks like one."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return redact_text(text)


def tell_dbt(secrets: Iterable[str]) -> None:
    """Make dbt mask these secrets in its logs, errors and artifacts.

    dbt masks the values of environment variables whose names begin with DBT_ENV_SECRET, so each secret becomes the
    value of such a variable (dbt_common.exceptions.base.env_secrets).
    """
    for secret in secrets:
        known = {value for name, value in os.environ.items() if name.startswith(SECRET_ENV_PREFIX)}
        if secret not in known:
            os.environ[f"{SECRET_ENV_PREFIX}_OF_PROFILE_{len(known)}"] = secret


class SecretOptionError(ValidationError, DbtBaseException):
    """A secret in `tblproperties`.

    dbt catches the first base class while it parses, and prints errors of the second one without a stack trace.
    """


def refuse_secret_options(properties: Any) -> None:
    """Refuse secrets in a node's `tblproperties`."""
    if isinstance(properties, Mapping):
        names = [str(name) for name, value in properties.items() if is_secret_option(str(name)) and value is not None]
        if names:
            raise SecretOptionError(f"tblproperties: {', '.join(names)}: {REFUSAL}.")

"""The known releases of Paimon, and how versions are parsed and compared."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from dbt_common.exceptions import DbtRuntimeError
from packaging.version import InvalidVersion, Version

OLDEST_PAIMON: Final = Version("0.9.0")
# The Paimon version that CI runs. It is assumed for a server if the target does not set paimon_version.
DEFAULT_PAIMON_VERSION: Final = "0.9.0"
# The Spark version to assume if the real one is not known.
USUAL_SPARK: Final = "3.5.7"

# The newest known Paimon release of each minor version.
RELEASES: Final[tuple[str, ...]] = ("0.9.0", "1.0.1", "1.1.1", "1.2.0", "1.3.1", "1.4.2", "2.0.0")

# The Paimon releases whose options paimon_options.json lists.
OPTION_CATALOGUES: Final[tuple[str, ...]] = ("0.9", "1.4", "2.0")


@lru_cache(maxsize=64)
def parse_version(text: str) -> Version:
    """Parse a version such as '0.9.0', '1.4-SNAPSHOT' or '3.5.7-amzn-0'; raises DbtRuntimeError for other text."""
    try:
        return Version(text.strip())
    except InvalidVersion:
        # Vendors append build names; the leading numbers say which release it is.
        leading = re.match(r"\s*v?(\d+(?:\.\d+){0,2})", text)
        if leading is None:
            raise DbtRuntimeError(f"'{text}' is not a version. Write it as in '0.9.0' or '1.4.2'.") from None
        return Version(leading[1])


def as_version(version: str | Version) -> Version:
    """Parse a version, unless it is parsed already."""
    return version if isinstance(version, Version) else parse_version(version)


def minor(version: str | Version) -> str:
    """'1.4' for 1.4.2: Paimon adds features in minor releases."""
    found = as_version(version)
    return f"{found.major}.{found.minor}"


def reaches(paimon: str | Version, since: str) -> bool:
    """Whether `paimon` belongs to the release `since` or a later one; a release candidate counts as its release."""
    return Version(minor(paimon)) >= Version(since)


def options_versions(paimon: Version) -> tuple[str, ...]:
    """The keys in paimon_options.json for a Paimon version; raises DbtRuntimeError below Paimon 0.9.

    A release between two keys gets both: 1.2 has all of 0.9's options, and an unknown part of 1.4's.
    """
    number = sum(reaches(paimon, key) for key in OPTION_CATALOGUES)
    if not number:
        raise DbtRuntimeError(
            f"Paimon {paimon} is too old: the oldest supported is {OLDEST_PAIMON}. Set paimon_version to it."
        )
    is_listed = OPTION_CATALOGUES[number - 1] == minor(paimon)
    return OPTION_CATALOGUES[number - 1 : number if is_listed else number + 1]

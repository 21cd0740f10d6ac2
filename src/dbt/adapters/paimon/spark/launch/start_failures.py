"""Explains, from its output, why Spark's JVM did not start: jars that Ivy could not download, or refused options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import artifacts
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.spark.launch.packages import JARS_VARIABLE

# From Ivy's report: an unknown host, a refused connection, an HTTP status.
_IVY_NO_HOST = re.compile(r"Host ([\w.-]+) not found\. url=")
_IVY_NO_ACCESS = re.compile(r"Server access error at url \w+://(?:[^/@\s]*@)?([\w.-]+)\S* \([\w.]*?(\w+): ?([^)]*)\)")
_IVY_STATUS = re.compile(r"HTTP response status: (\d+) url=\w+://(?:[^/@\s]*@)?([\w.-]+)")
# A repository that Spark always searches too; its answer is irrelevant.
_SPARK_PACKAGES = "repos.spark-packages.org"
_IVY_MISSING = re.compile(r"(?:unresolved dependency|download failed): ([^\s:#]+)#([^;\s]+);([^:!\s]+)")
# A file that was incomplete, or had the wrong checksum.
_IVY_FAILED = re.compile(r"\[FAILED\s*\] ([^\s:#]+)#([^;\s]+);([^!\s]+)!\S+?:? +(.*?)(?: \(\d+ms\))?$", re.MULTILINE)
# Java's message for an option that it does not know.
_OPTION_REFUSED: Final = re.compile(r"^(?P<why>.+)\s+Error: Could not create the Java Virtual Machine", re.MULTILINE)


class NotStartedError(DbtRuntimeError):
    """The JVM exited at once for a reason other than missing jars, usually because of its options."""


def failure_of(text: str, log: Path) -> DbtRuntimeError:
    """The error for a JVM that exited with this output."""
    if is_unresolved(text):
        return DbtRuntimeError(explain_resolution_failure(text, installation.spark_version()))
    if refused := _OPTION_REFUSED.search(text):
        return NotStartedError(
            f"Spark's JVM did not start: {refused['why'].strip()}. Correct spark.driver.memory or "
            f"spark.driver.extraJavaOptions under `spark_config` in the profile. Its whole output is in {log}."
        )
    reason = next((line for line in reversed(text.splitlines()) if "rror" in line or "xception" in line), "")
    return NotStartedError(
        f"Spark's JVM did not start: {reason.strip() or 'it exited without any output'}. Its whole output is in {log}."
    )


def is_unresolved(text: str) -> bool:
    """Whether the JVM exited because Ivy could not download a jar."""
    return any(sign in text.lower() for sign in ("unresolved dependenc", "download failed"))


def unreachable_repositories(text: str) -> dict[str, str]:
    """Repositories that did not answer, by host, with the reason; empty if all answered but lacked a jar."""
    found = dict.fromkeys(_IVY_NO_HOST.findall(text), "its host name is unknown")
    found |= {host: why or kind for host, kind, why in _IVY_NO_ACCESS.findall(text)}
    found |= {host: f"HTTP status {status}" for status, host in _IVY_STATUS.findall(text) if status != "404"}
    found.pop(_SPARK_PACKAGES, None)
    return found


def failed_downloads(text: str) -> dict[str, str]:
    """Packages whose files were incomplete or damaged, with the reason."""
    return {":".join(parts): why for *parts, why in _IVY_FAILED.findall(text)}


def explain_resolution_failure(text: str, spark_version: str) -> str:
    """The error for jars that Ivy could not download: reason and remedy."""
    missing = sorted({":".join(parts) for parts in _IVY_MISSING.findall(text)})
    what = ", ".join(missing) if missing else "a package of Spark's class path"
    if silent := unreachable_repositories(text):
        hosts = ", ".join(f"{host}: {why}" for host, why in sorted(silent.items()))
        return redact_text(
            f"The jars of {what} could not be fetched: no answer from {hosts}. Check the network; name a mirror under "
            "`repositories` in the profile (or spark.jars.ivySettings in spark_config); behind a proxy, which Java "
            "does not take from HTTPS_PROXY, put `-Dhttps.proxyHost=… -Dhttps.proxyPort=…` into "
            "spark.driver.extraJavaOptions; without a network, download the jars elsewhere and name their paths under "
            f"`jars` or in {JARS_VARIABLE}: nothing is downloaded then."
        )
    if failed := failed_downloads(text):
        files = ", ".join(f"{package} ({why})" for package, why in sorted(failed.items()))
        return redact_text(
            f"A repository has {files}, but the file did not arrive whole. Start again; if it happens again, the "
            "repository or a proxy before it serves a damaged file: name another one under `repositories` in the "
            "profile, or the jar, if you have it, under `jars`."
        )
    if any(package.startswith("org.apache.spark:spark-connect_") for package in missing):
        return redact_text(
            f"{what}: no repository has the server of Spark Connect for PySpark {spark_version}. Install the newest "
            f"PySpark that it was tried with: {artifacts.install_command('connect')}; or name the jar, if you have "
            "it, under `jars` in the profile."
        )
    known = ", ".join(artifacts.releases(spark_version))
    return redact_text(
        f"{what}: no repository has this jar, and all of them answered. Correct paimon_version (for Spark "
        f"{spark_version} there are {known}) or `packages` in the profile; if another repository has it, name that "
        "under `repositories`, and a jar that you have under `jars`."
    )

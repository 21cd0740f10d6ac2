"""Checks the installed packages (PySpark and its dependencies); errors contain the command that fixes them."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import artifacts, version_numbers
from dbt.adapters.paimon.capabilities.artifacts import install_command

# The modules that the extra `connect` adds to PySpark.
_CONNECT_MODULES: Final = ("pandas", "pyarrow", "grpc", "grpc_status", "google.rpc", "googleapis", "numpy")
_SPARK_CORE: Final = re.compile(r"spark-core_2\.\d+-(\d+\.\d+\.\d+)")
_NO_MODULE: Final = re.compile(r"No module named '(?P<name>[\w.]+)'")
# Errors of PySpark's version checks (require_minimum_pandas_version and similar).
_VERSION_CHECK: Final = re.compile(
    r"(?:\[\w+\] )?(?P<name>Pandas|PyArrow|grpcio(?:-status)?|googleapis-common-protos) >= [\w.]+ must be installed"
    r"|PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION",
    re.IGNORECASE,
)
# Errors of libraries that were built for a different numpy, and of a PySpark that needs an older one.
_NUMPY: Final = re.compile(
    r"numpy\._?core\.|compiled (?:using|against) NumPy|numpy\.dtype size changed|_ARRAY_API|removed in the NumPy 2"
    r"|module '(?:numpy|pyarrow|pandas)' has no attribute",
    re.IGNORECASE,
)


def spark_version(method: str = "session") -> str:
    """The version of this Python's PySpark, even if it comes from a Spark installation (PYTHONPATH).

    If PySpark is missing, raises DbtRuntimeError with the command that installs it for a connection method.
    """
    try:
        return version("pyspark")
    except PackageNotFoundError:
        if importlib.util.find_spec("pyspark") is not None:
            from pyspark import __version__

            return str(__version__)
        raise DbtRuntimeError(_no_pyspark(method)) from None


def require(method: str) -> str:
    """PySpark's version; raises DbtRuntimeError if PySpark is missing or does not support this Python."""
    spark = spark_version(method)
    artifacts.require_python(spark, sys.version_info[:2])
    return spark


def require_own_spark(spark: str, environ: Mapping[str, str]) -> None:
    """Check that the Spark in `SPARK_HOME`, if set, has PySpark's minor version; raises DbtRuntimeError if not."""
    home = environ.get("SPARK_HOME", "")
    jar = next(iter(sorted(Path(home, "jars").glob("spark-core_*.jar"))), None) if home else None
    found = _SPARK_CORE.search(jar.name) if jar else None
    if found and version_numbers.minor(found[1]) != version_numbers.minor(spark):
        raise DbtRuntimeError(
            f"SPARK_HOME ({home}) is Spark {found[1]}, and the PySpark of this Python is {spark}: they are not "
            f"compatible. Unset SPARK_HOME to use PySpark's own Spark, or `pip install 'pyspark=={found[1]}'`."
        )


def remedy(text: str, spark: str | None = None, method: str = "session") -> str:
    """The remedy for a failed import with PySpark `spark` (default: the installed one); '' for other errors."""
    found = _NO_MODULE.search(text)
    module = found["name"] if found else ""
    root = module.split(".")[0]
    if root == "pyspark":
        return _no_pyspark(method)
    extra = "spark4" if _is_spark_4(spark) else "connect"
    if root in ("distutils", "setuptools"):
        return (
            "PySpark 3.5 imports distutils, which Python 3.12 removed and setuptools before 81 provides: "
            f"{install_command('connect' if method == 'connect' else 'session')} installs it."
        )
    if _NUMPY.search(text):
        return (
            f"numpy, pandas and pyarrow are not compatible with one another: {install_command(extra)} "
            "installs versions that are."
        )
    if what := _missing_for_connect(text, module):
        return f"{what} comes with an extra of dbt-paimon: {install_command(extra)}."
    return ""


def _missing_for_connect(text: str, module: str) -> str:
    if asked := _VERSION_CHECK.search(text):
        return module or asked["name"] or "a package that PySpark needs"
    return module if any(f"{module}.".startswith(f"{name}.") for name in _CONNECT_MODULES) else ""


def _is_spark_4(spark: str | None) -> bool:
    try:
        return int((spark or spark_version()).split(".")[0]) >= 4
    except DbtRuntimeError:
        return False


def _no_pyspark(method: str) -> str:
    extra = "connect" if method == "connect" else "session"
    return (
        f"method: {method} needs PySpark, and this Python ({sys.executable}) has none: {install_command(extra)} for "
        f"Spark 3.5, or {install_command('spark4')} for Spark 4.1."
    )

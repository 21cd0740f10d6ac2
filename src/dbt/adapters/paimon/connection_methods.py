"""The ways in which dbt reaches Spark, and the keys of a target that only some of them use."""

from __future__ import annotations

from dbt_common.dataclass_schema import StrEnum


class PaimonConnectionMethod(StrEnum):
    """How dbt reaches Spark."""

    SESSION = "session"
    CONNECT = "connect"
    THRIFT = "thrift"


# Spark's default ports, for a profile that does not set one.
PORTS = {"connect": 15002, "thrift": 10000}
# Keys that only some methods have.
METHODS_OF = {
    **dict.fromkeys(("host", "port", "user", "use_ssl"), ("connect", "thrift")),
    "token": ("connect",),
    **dict.fromkeys(("password", "auth", "kerberos_service_name"), ("thrift",)),
}

"""The object stores that Paimon has a plug-in for, with the names of their options.

Paimon reaches `s3://` and `oss://` through its own plug-ins (S3FileIO, OSSFileIO), which read only the catalog's
options. They ignore `spark.hadoop.fs.s3a.*`, core-site.xml and, before 2.0, the environment (FileIO.get skips S3Loader
if `s3.access-key` is missing). `storage` turns all of these into catalog options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class ObjectStore:
    """A kind of object store that Paimon has a plug-in for.

    Attributes:
        artifact: the plug-in's Maven artifact, whose version is Paimon's; `loader` is the plug-in's class.
        prefix: the prefix of options that the plug-in prefers; `prefixes` are all that it accepts.
        hadoop: the prefix of the same options in Hadoop's settings.
        keys: options without which Paimon does not use the plug-in (the loader's `requiredOptions`).
        synonyms: other spellings of an option, without the prefix.
        environment: environment variable -> the option that it sets if the profile has no keys.
        bounds: limits of time and attempts, which the profile can override. With Hadoop's defaults, a silent store
            blocks a run for hours.
    """

    name: str
    artifact: str
    loader: str
    prefix: str
    prefixes: tuple[str, ...]
    hadoop: str
    keys: tuple[str, ...]
    environment: Mapping[str, str]
    bounds: Mapping[str, str]
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def option(self, name: str) -> str | None:
        """The name of an option without this store's prefix; None if the option does not belong to this store."""
        for prefix in self.prefixes:
            if name.startswith(prefix):
                short = name.removeprefix(prefix)
                return self.synonyms.get(short, short)
        return None

    def own_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """The options of this store, by name without its prefix."""
        return {short: value for name, value in options.items() if (short := self.option(name)) is not None}


S3: Final = ObjectStore(
    name="S3",
    artifact="paimon-s3",
    loader="org/apache/paimon/s3/S3Loader.class",
    # Source: S3FileIO.CONFIG_PREFIXES and MIRRORED_CONFIG_KEYS, S3Loader.requiredOptions.
    prefix="s3.",
    prefixes=("s3.", "s3a.", "fs.s3a."),
    hadoop="fs.s3a.",
    keys=("access-key", "secret-key"),
    synonyms={
        "access.key": "access-key",
        "secret.key": "secret-key",
        "path-style-access": "path.style.access",
        "signer-type": "signing-algorithm",
    },
    environment={
        "AWS_ACCESS_KEY_ID": "access-key",
        "AWS_SECRET_ACCESS_KEY": "secret-key",
        "AWS_SESSION_TOKEN": "session.token",
        "AWS_ENDPOINT_URL": "endpoint",
        "AWS_ENDPOINT_URL_S3": "endpoint",
    },
    # Hadoop's defaults (org.apache.hadoop.fs.s3a.Constants, 3.3.4): 7 attempts of S3A, each with 20 attempts of the SDK
    # with a timeout of 200 s. Throttled requests (503) are still retried 20 times.
    bounds={
        "attempts.maximum": "3",
        "retry.limit": "3",
        "retry.interval": "500ms",
        "connection.establish.timeout": "3000",
        "connection.timeout": "30000",
    },
)

OSS: Final = ObjectStore(
    name="OSS",
    artifact="paimon-oss",
    loader="org/apache/paimon/oss/OSSLoader.class",
    # Source: OSSFileIO.CONFIG_PREFIXES, OSSLoader.requiredOptions.
    prefix="fs.oss.",
    prefixes=("fs.oss.",),
    hadoop="fs.oss.",
    keys=("endpoint", "accessKeyId", "accessKeySecret"),
    environment={
        "OSS_ACCESS_KEY_ID": "accessKeyId",
        "OSS_ACCESS_KEY_SECRET": "accessKeySecret",
        "OSS_SESSION_TOKEN": "securityToken",
        "OSS_ENDPOINT": "endpoint",
    },
    # org.apache.hadoop.fs.aliyun.oss.Constants: 10 attempts, 50 s to connect, 200 s to answer.
    bounds={"attempts.maximum": "3", "connection.establish.timeout": "3000", "connection.timeout": "30000"},
)

STORES: Final[Mapping[str, ObjectStore]] = {"s3": S3, "s3a": S3, "s3n": S3, "oss": OSS}

# The schemes that the plug-ins are registered for (S3Loader.getScheme): s3a:// would go to Hadoop's S3A.
OWN_SCHEME: Final[Mapping[str, str]] = {"s3a": "s3", "s3n": "s3"}


def carries(jar: Path, store: ObjectStore) -> bool:
    """Whether a jar contains a store's plug-in."""
    import zipfile

    try:
        with zipfile.ZipFile(jar) as archive:
            return store.loader in archive.NameToInfo
    except (OSError, zipfile.BadZipFile):
        return False

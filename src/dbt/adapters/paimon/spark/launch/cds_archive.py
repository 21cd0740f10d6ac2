"""Class-data-sharing (CDS) archives, which let later runs map the classes that an earlier run loaded.

The first JVM for a JDK, Spark and set of jars writes an archive when it exits, after dbt has ended; later ones load it.
Java ignores an archive that does not fit its class path (Java 17: JEP 350, "Dynamic CDS Archives").
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from dbt.adapters.paimon.capabilities.artifacts import JAVA_WITH_CLASS_ARCHIVES
from dbt.adapters.paimon.machine.cache_folder import cache_folder, cache_key, stamp
from dbt.adapters.paimon.machine.java import JavaRuntime
from dbt.adapters.paimon.machine.private_files import is_own_file, read_own, write_own
from dbt.adapters.paimon.machine.processes import is_alive

# If this variable is 0, archives are neither used nor created.
VARIABLE: Final = "DBT_PAIMON_CLASS_ARCHIVE"
_QUIET: Final = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
# CDS_DYNAMIC_ARCHIVE_MAGIC of HotSpot's cds.h; written last, so that an incomplete archive lacks it.
_MAGIC: Final = 0xF00BABA8
# The number of archives to keep: those that were used last.
_KEPT: Final = 6


def java_options(java: JavaRuntime, class_path: Sequence[Path], conf: Mapping[str, str]) -> list[str]:
    """The Java options that use or create the archive of this kind of JVM; empty if unsupported or set by the user."""
    own = f"{conf.get('spark.driver.extraJavaOptions', '')} {os.environ.get('JDK_JAVA_OPTIONS', '')}"
    unwanted = os.environ.get(VARIABLE, "1") in ("0", "false") or "Archive" in own or "-Xshare" in own
    if unwanted or java.major < JAVA_WITH_CLASS_ARCHIVES:
        return []
    with suppress(OSError):
        archive = cache_folder() / f"classes-{_fingerprint(java, class_path)}.jsa"
        if _is_usable(archive):
            os.utime(archive.with_suffix(".json"))
            # Checksums (0.1 s) detect a damaged file; Java then starts without the archive.
            return [f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces", *_QUIET]
        if _claim(archive):
            return [f"-XX:ArchiveClassesAtExit={archive}", *_QUIET]
    return []


def _fingerprint(java: JavaRuntime, class_path: Sequence[Path]) -> str:
    release = Path(java.home, "release")
    text = release.read_text(errors="replace") if release.is_file() else ""
    return cache_key([java.home, text, sys.platform, *(stamp(jar) for jar in class_path)])


def _is_usable(archive: Path) -> bool:
    """Whether an archive is complete, and unchanged since it was first seen; a changed one is deleted."""
    note = archive.with_suffix(".json")
    with suppress(FileNotFoundError):
        found = list(stamp(archive))
        with suppress(OSError, ValueError):
            if json.loads(read_own(note)) == found and is_own_file(archive):
                return True
            note.unlink()
            archive.unlink()
            return False
        if not is_own_file(archive):
            archive.unlink()
            return False
        with archive.open("rb") as file:
            head = file.read(4)
        if len(head) == 4 and struct.unpack("=I", head)[0] == _MAGIC:
            write_own(note, json.dumps(found))
            _delete_old_archives(archive.parent)
            return True
    return False


def _claim(archive: Path) -> bool:
    """Whether this process may create the archive; only one process at a time does."""
    claim = archive.with_suffix(".pid")
    with suppress(FileExistsError):
        with claim.open("x") as file:
            file.write(str(os.getpid()))
        return True
    with suppress(OSError, ValueError):
        if not is_alive(int(claim.read_text())):
            # The JVM was killed, or could not write the archive: try again.
            claim.unlink()
            return _claim(archive)
    return False


def _delete_old_archives(folder: Path) -> None:
    notes = sorted(folder.glob("classes-*.json"), key=lambda note: note.stat().st_mtime, reverse=True)
    for note in notes[_KEPT:]:
        for ending in (".jsa", ".pid", ".json"):
            note.with_suffix(ending).unlink(missing_ok=True)

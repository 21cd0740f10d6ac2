"""uv.lock names only PyPI, not a mirror that was used when the file was written."""

import re
from pathlib import Path

LOCK = Path(__file__).parents[2] / "uv.lock"


def test_lock_names_no_host_but_pypis() -> None:
    hosts = set(re.findall(r"https?://([^/\"]+)", LOCK.read_text()))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}

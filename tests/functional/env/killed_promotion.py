"""Runs `dbt-paimon` in a process that kills itself and its JVM at a given point (see `faults.killed_run`).

python -m functional.env.killed_promotion POINT dbt-paimon-arguments…
"""

from __future__ import annotations

import json
import sys

from dbt_paimon.cli import main
from faults.killed_run import watch

if __name__ == "__main__":
    watch(json.loads(sys.argv[1]))
    main(sys.argv[2:])

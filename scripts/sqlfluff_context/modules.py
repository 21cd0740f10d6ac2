"""dbt's `modules` for sqlfluff's jinja templater."""

import datetime
import re

__all__ = ["datetime", "re"]

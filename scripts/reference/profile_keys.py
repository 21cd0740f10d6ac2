"""profile-keys.md: the keys of a target."""

from __future__ import annotations

from dataclasses import fields

from dbt.adapters.paimon.config_keys import Key, keys_of
from dbt.adapters.paimon.connection_methods import METHODS_OF
from dbt.adapters.paimon.credentials import PaimonCredentials
from reference.markdown import NOTHING, code, codes, explained, table, takes

_PAGE = """\
# Profile keys

The keys of a target in `profiles.yml`, in addition to dbt's own `type` and `threads`. See [profile](../profile.md) for
an example. `make reference` writes this page from the code.

{keys}
"""


def page() -> str:
    """The whole page."""
    defaults = {each.name: each.default for each in fields(PaimonCredentials)}
    rows = [_row(name, key, defaults[name]) for name, key in keys_of(PaimonCredentials).items()]
    return _PAGE.format(keys=table(("key", "takes", "default", "with `method`", ""), rows))


def _row(name: str, key: Key, default: object) -> tuple[str, ...]:
    shown = next((alias for alias, of in PaimonCredentials._ALIASES.items() if of == name), name)
    plain = code(default) if isinstance(default, (str, int)) and default != "" else NOTHING
    methods = codes(METHODS_OF.get(name, ())) or "any"
    return code(shown), takes(key) or "text", key.default or plain, methods, explained(key)

"""The methods of `adapter` that models and their macros call, for sqlfluff's jinja templater."""


def has_capability(_name: str) -> bool:
    """Enable every model, so that all are linted."""
    return True


def quote(name: str) -> str:
    """A name in backticks."""
    return f"`{name}`"

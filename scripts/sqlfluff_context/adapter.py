"""What models and their macros ask of `adapter`, for sqlfluff's jinja templater."""


def has_capability(_name: str) -> bool:
    """Every model is enabled, so that all are looked at."""
    return True


def quote(name: str) -> str:
    """A name in backticks."""
    return f"`{name}`"

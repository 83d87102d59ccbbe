"""How many examples hypothesis tries."""

from hypothesis import settings


def times(factor: float) -> settings:
    """So many times the examples of the profile: for tests far cheaper, or dearer."""
    return settings(max_examples=max(1, round(factor * settings.default.max_examples)))

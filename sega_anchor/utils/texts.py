"""Texts of users, as a terminal may show them."""


def escape(text: str) -> str:
    r"""Return a text in which what a terminal would obey is written out.

    Example:
        >>> print(escape("a\x1b[2Jb"))
        a\x1b[2Jb
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)

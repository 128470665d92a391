"""Numbers, times and foreign text in a form for the terminal.

Text that comes from samples is printed without its control characters, since a response may hold anything.
"""

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Column, Table
from rich.text import Text


def format_number(value: float) -> str:
    """A number in a few characters.

    >>> format_number(0.5), format_number(1234.56), format_number(1e-9)
    ('0.500', '1,234.6', '1e-09')
    """
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        return f"{value:.3g}"
    return f"{value:,.1f}" if size >= 1000 else f"{value:.3f}"


def format_optional(value: float | None, form: str = "{:.4g}", absent: str = "none") -> str:
    """A figure in a form, or the word for its absence."""
    return absent if value is None else form.format(value)


def format_duration(seconds: float) -> str:
    """Seconds as people read them.

    >>> format_duration(0.0042), format_duration(3.14159), format_duration(600)
    ('4.2 ms', '3.14 s', '10.0 min')
    """
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def format_share(share: float) -> str:
    """A share in percent, with a digit more where it is small.

    >>> format_share(0.4), format_share(0.021)
    ('40 %', '2.1 %')
    """
    digits = 0 if abs(share) >= 0.1 or not share else 1
    return f"{100 * share + 1e-9:.{digits}f} %"  # halves go up, as on the page


def shorten(text: str, limit: int) -> str:
    """The text, or its beginning of `limit` characters and an ellipsis.

    >>> shorten("a long text", 6)
    'a long…'
    """
    return text if len(text) <= limit else f"{text[:limit]}…"


def escape_controls(text: str, *, keep: str = "") -> str:
    """Control characters and lone surrogates shown, not sent to the terminal, except for those to `keep`."""
    return "".join(char if char.isprintable() or char in keep else ascii(char)[1:-1] for char in text)


def bare_table(*headers: str | Column, rows: Iterable[Sequence[str | Text]] | None = None) -> Table:
    """A table without lines around its cells; a cell of a row is text, and never markup."""
    is_headed = any(each if isinstance(each, str) else each.header for each in headers)
    table = Table(*headers, box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.show_header = is_headed or rows is None
    for row in rows or ():
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def facts_table(facts: Mapping[str, str | Text]) -> Table:
    """One line per fact, after its name in bold; empty facts are left out."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in facts.items():
        if fact:
            table.add_row(Text(name), Text(fact) if isinstance(fact, str) else fact)
    return table


def to_text(text: str, ascii_only: bool) -> Text:
    shown = escape_controls(text)
    return Text(shown.encode("ascii", "backslashreplace").decode() if ascii_only else shown)


def count_noun(number: int, noun: str) -> str:
    """A count in words: "1 sample", "2,640 samples"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

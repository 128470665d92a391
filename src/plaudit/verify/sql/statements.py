"""SQL as text: the query of a response, its statements, and the order that a query asks for.

Queries are split into tokens and never parsed further: whether a statement is valid is for the database to say.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from plaudit.verify.fences import find_fences
from plaudit.verify.patterns import compile_late
from plaudit.verify.tags import find_blocks
from plaudit.verify.text import replace_spans

LONGEST_SQL = 100_000
LONGEST_TEXT = 200_000
"""Characters of an answer in which a statement without a fence or tag is looked for."""
MARKS = ("sql", "sqlite", "sqlite3", "duckdb", "postgresql", "postgres", "mysql", "tsql")
QUERY_WORDS = ("select", "with", "values")
COMPOUND_WORDS = ("union", "intersect", "except")
UNSTABLE = frozenset(
    {
        "random", "randomblob", "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
        "now", "today", "uuid", "gen_random_uuid", "changes", "total_changes", "last_insert_rowid", "nextval",
    }
)  # fmt: skip
CLOCK_FUNCTIONS = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Functions that read the clock when they have no further argument than this many."""
_MAY_BE_UNSTABLE = compile_late(rf"\b(?:{'|'.join([*sorted(UNSTABLE), *CLOCK_FUNCTIONS])})\b", re.IGNORECASE)

_TOKEN = compile_late(
    r"""(?P<space>\s++|--[^\n]*+|/\*(?:.*?\*/|.*))
    |(?P<text>[xX]?'(?:[^']++|'')*+(?:'|\Z))
    |(?P<quoted>"(?:[^"]++|"")*+(?:"|\Z)|`(?:[^`]++|``)*+(?:`|\Z)|\[[^\]]*+(?:\]|\Z))
    |(?P<name>[^\W\d][\w$]*+)
    |(?P<number>\d[\w.]*+|\.\d\w*+)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_STATEMENT = (
    r"(?:select\b(?=\s*+[\w\"'`\[(*+-])|with\s++(?:recursive\s++)?+[\w\"`]++\s*+(?:\(|as\b)|values\s*+\("
    r"|(?:insert|replace)\s++(?:or\s++\w++\s++)?+into\b|update\s++\S++\s++set\b|delete\s++from\b"
    r"|(?:create|drop|alter)\s++\w++\s|attach\s|detach\s|pragma\s++\w|vacuum\b|reindex\b|explain\s++\w)"
)
_COMMENT = r"(?:\s++|--[^\n]*+\n|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
_COMMENTS_IN_LINES = r"(?:(?:--[^\n]*+\n|/\*(?:[^*]|\*(?!/)){0,1000}+\*/)\s*+){0,20}+"
"""Bounded, and no blank line before the first: a search tries it at every line."""
_LABEL = r"(?:[*#> \t]|(?:the|my|final|corrected|sql|query|answer|statement|solution|is)\b)*+:?[* \t]*+"
_STARTS = compile_late(_COMMENT + _STATEMENT, re.IGNORECASE)
_LINE_STARTS = compile_late(
    rf"^{_LABEL}(?P<comment>{_COMMENTS_IN_LINES})(?={_STATEMENT})", re.IGNORECASE | re.MULTILINE
)
_PARAGRAPH = compile_late(
    r"\n[ \t]*+\n(?!\s*+(?:[(),]|(?:select|from|where|group|having|order|limit|join|left|right|inner|outer|cross|union"
    r"|intersect|except|window|and|or|on)\b))",
    re.IGNORECASE,
)
_INLINE = compile_late(r"(?<!`)`([^`\n]++)`(?!`)")


class Token(NamedTuple):
    """A part of a statement that is not blank or a comment; `depth` counts the parentheses around it."""

    kind: str
    text: str
    start: int
    end: int
    depth: int

    @property
    def word(self) -> str:
        """A name in lower case; empty for anything else."""
        return self.text.lower() if self.kind == "name" else ""


class QueryText(NamedTuple):
    """The query of a response, or why there is none."""

    sql: str
    problem: str = ""


def find_query(text: str) -> QueryText:
    """The query of a response without thoughts.

    It is in `<solution>` or `<answer>`, else in the last fenced block of SQL, else the response itself, a statement
    that begins a line, or the only one in code marks.
    """
    for tag in ("solution", "answer"):
        if blocks := find_blocks(text, tag):
            return _only([_statement_in(block.text) for block in blocks])
    return _only([_statement_in(text)])


def split_statements(sql: str) -> list[str]:
    """The statements of a text, without the semicolons; blank ones and comments are left out."""
    if ";" not in sql:
        return [sql] if next(tokens_of(sql), None) else []
    pieces, begin, is_blank = list[str](), 0, True
    for token in tokens_of(sql):
        if token.text == ";" and token.kind == "mark":
            pieces += [] if is_blank else [sql[begin : token.start]]
            begin, is_blank = token.end, True
        else:
            is_blank = False
    return pieces if is_blank else [*pieces, sql[begin:]]


def _only(texts: list[str | None]) -> QueryText:
    if None in texts:
        return QueryText("", "no SQL query in the answer")
    if any(len(text) > LONGEST_SQL for text in texts if text):
        return QueryText("", f"a query of more than {LONGEST_SQL:,} characters")
    statements = [each for text in texts if text for each in split_statements(text)]
    if not statements:
        return QueryText("", "no SQL query in the answer")
    if len(statements) > 1 and len(set(map(_canonical, statements))) > 1:
        return QueryText("", "several statements")
    return QueryText(statements[0].strip())


def _canonical(sql: str) -> str:
    return " ".join(token.word or token.text for token in tokens_of(sql))


def _statement_in(text: str) -> str | None:
    closed, unclosed = find_fences(text)
    blocks = [*closed, *([unclosed] if unclosed else [])]
    marked = [block.text for block in blocks if block.language.lower() in MARKS]
    unmarked = [block.text for block in blocks if not block.language and _STARTS.match(block.text)]
    if marked or unmarked:
        return (marked or unmarked)[-1]
    return _bare_statement(replace_spans(text, ((block.start, block.end, "") for block in blocks)))


def _bare_statement(text: str) -> str | None:
    """A statement that begins a line, up to its semicolon or the end of its paragraph; else the one in code marks."""
    if len(text) > LONGEST_TEXT:
        return None
    start = _LINE_STARTS.search(text)
    if start is None:
        spans = [span[1] for span in _INLINE.finditer(text) if _STARTS.match(span[1])]
        return ";".join(spans) or None
    rest = text[start.end() :][: LONGEST_SQL + 1]
    paragraph = _PARAGRAPH.search(rest)
    statement = rest[: paragraph.start()] if paragraph else rest
    tokens = tokens_of(statement) if ";" in statement else ()
    semicolon = next((token.end for token in tokens if token.text == ";"), len(statement))
    remark = rest[semicolon:]
    return statement + ";" + remark if _LINE_STARTS.search(remark) else statement[:semicolon]


def tokens_of(sql: str) -> Iterator[Token]:
    """The tokens of a text."""
    depth = 0
    for match in _TOKEN.finditer(sql):
        kind = str(match.lastgroup)
        if kind != "space":
            depth -= match[0] == ")"
            yield Token(kind, match[0], *match.span(), depth)
            depth += match[0] == "("


@dataclass(frozen=True)
class Query:
    """One statement, and the parts of it that say in which order its rows come."""

    sql: str

    @cached_property
    def tokens(self) -> list[Token]:
        """All tokens of the statement."""
        return list(tokens_of(self.sql))

    @property
    def is_query(self) -> bool:
        """Whether the statement is of a kind that gives rows."""
        first = next(tokens_of(self.sql), None)
        return first is not None and first.word in QUERY_WORDS

    @cached_property
    def unstable(self) -> str | None:
        """The first function that gives another value the next time: random numbers, the clock."""
        if not _MAY_BE_UNSTABLE.search(self.sql):
            return None
        following = [*self.tokens[1:], Token("", "", 0, 0, 0)]
        for index, (token, after) in enumerate(zip(self.tokens, following, strict=True)):
            is_call = after.text == "("
            if token.word in UNSTABLE and (is_call or token.word.startswith(("current_", "local"))):
                return token.text
            if token.kind == "text" and token.text.lower() == "'now'":
                return "'now'"
            most = CLOCK_FUNCTIONS.get(token.word, -1) if is_call else -1
            if most >= 0 and self._count_arguments(index + 1) <= most:
                return f"{token.text}()"
        return None

    def _count_arguments(self, opening: int) -> int:
        depth = self.tokens[opening].depth
        inner = list[Token]()
        for token in self.tokens[opening + 1 :]:
            if token.depth == depth:
                break
            inner.append(token)
        return bool(inner) + sum(token.text == "," and token.depth == depth + 1 for token in inner)

    @cached_property
    def ordering(self) -> "Ordering | None":
        """The ORDER BY of the whole statement; None where it has none."""
        top = [token for token in self.tokens if token.depth == 0]
        starts = [i for i in range(len(top) - 1) if top[i].word == "order" and top[i + 1].word == "by"]
        if not starts:
            return None
        end = next((i for i in range(starts[-1], len(top)) if top[i].word in ("limit", "offset", "fetch")), len(top))
        stop = top[end].start if end < len(top) else len(self.sql)
        cuts = [token.start for token in top[starts[-1] + 2 : end] if token.text == ","]
        begins = [top[starts[-1] + 1].end, *(cut + 1 for cut in cuts)]
        terms = [self.sql[begin:cut].strip() for begin, cut in zip(begins, [*cuts, stop], strict=True)]
        return Ordering(self.sql[: top[starts[-1]].start], tuple(terms), self._offset(top[end:]))

    def _offset(self, limit: list[Token]) -> str:
        """The expression of how many rows are left out at the start."""
        for index, token in enumerate(limit):
            if token.word == "offset" and index + 1 < len(limit):
                later = next((each.start for each in limit[index + 1 :] if each.word == "limit"), len(self.sql))
                return self.sql[token.end : later]
            if token.text == ",":
                return self.sql[limit[0].end : token.start]
        return "0"


@dataclass(frozen=True, slots=True)
class Ordering:
    """A query without its ORDER BY and LIMIT, and what these say."""

    body: str
    terms: tuple[str, ...]
    offset: str
    """An expression; "0" where no row is left out."""

    def rank_queries(self, columns: list[str]) -> list[str]:
        """Queries for all rows, with their rank under the ORDER BY as last column.

        In the first, terms that are columns of the result are read there, and other terms become columns of the body.
        In the second, all terms are read in the result, as terms with an alias in them need.
        """
        names = [f"c{index}" for index in range(len(columns))]
        outputs = {str(index): name for index, name in enumerate(names, 1)}
        outputs |= {_plain(column): name for column, name in reversed(list(zip(columns, names, strict=True)))}
        terms, extra = [], list[str]()
        for term in self.terms:
            expression, suffix = _split_term(term)
            output = outputs.get(_plain(expression))
            if output is None:
                extra.append(expression)
                output = f"k{len(extra) - 1}"
            terms.append(f"{output} {suffix}")
        keys = [f"k{index}" for index in range(len(extra))]
        rank = "SELECT {}, DENSE_RANK() OVER (ORDER BY {}) AS plaudit_rank FROM plaudit_rows ORDER BY plaudit_rank"
        queries = [f"WITH plaudit_rows AS ({self.body}) {rank.format('*', ', '.join(self.terms))}"] if extra else []
        if (body := self._with_columns(extra)) is not None:
            listed = f"plaudit_rows({', '.join([*names, *keys])})"
            queries.insert(0, f"WITH {listed} AS ({body}) {rank.format(', '.join(names), ', '.join(terms))}")
        return queries

    def _with_columns(self, expressions: list[str]) -> str | None:
        """The body with further columns; None where these would change its rows."""
        if not expressions:
            return self.body
        top = [token for token in tokens_of(self.body) if token.depth == 0]
        words = [token.word for token in top]
        select = words.index("select") if "select" in words else len(words) - 1
        if any(word in COMPOUND_WORDS for word in words) or words[select + 1 : select + 2] == ["distinct"]:
            return None
        cut = next((token.start for token in top[select:] if token.word == "from"), len(self.body))
        return f"{self.body[:cut]}, {', '.join(expressions)} {self.body[cut:]}"


@lru_cache(maxsize=256)
def parse_query(sql: str) -> Query:
    """A statement; the same object for the same text."""
    return Query(sql)


def _split_term(term: str) -> tuple[str, str]:
    """The expression of an ORDER BY term, and what follows it: collation, direction, place of NULLs."""
    top = [token for token in tokens_of(term) if token.depth == 0]
    cut = next(
        (token.start for token in top[1:] if token.word in ("collate", "asc", "desc", "nulls")),
        len(term),
    )
    return term[:cut].strip(), term[cut:]


def _plain(name: str) -> str:
    """A column name or an expression for comparison: without blanks, quotes and upper case."""
    parts = [token.text for token in tokens_of(name)]
    if len(parts) == 1 and parts[0][0] in '"`[':
        parts = [parts[0][1:-1]]
    return " ".join(parts).lower()

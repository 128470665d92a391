"""The one grammar of written numbers: what is a number in text, and its exact value.

Digits with or without thousands separators, decimals, an exponent, repeating decimals, fractions and mixed numbers.
Everything that reads numbers builds on `DECIMAL` and `decimal_value`. A percent sign is kept as a flag and does not
change the value: "50%" is 50. A number of more than `MAX_DIGITS` digits, written out in full, is not read, so that no
text makes the arithmetic slow.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction

MAX_DIGITS = 2000  # a mixed number has twice as many, which is below the 4,300 that Python converts to text

# Possessive quantifiers throughout: a long text is read once, whatever it holds.
_WHOLE = r"(?:[1-9]\d{0,2}(?:(?:,|\{,\}|,\\!)\d{3})++(?!,?\d)|\d++)"
DECIMAL = rf"(?:{_WHOLE}(?:\.\d++)?+|(?<!\.)\.\d++)(?:[eE][-+]?\d++(?![\w(]))?+"
"""A regular expression, without groups, for digits with thousands separators, decimals and an exponent."""

REPEATING = r"\d*+\.\d*+(?:\\(?:overline|bar|dot)\s?\{\s?\d++\s?\}|\(\d++\)(?=\s*$|\.\.\.))"
r"""The same for decimals that repeat: `0.1\overline{6}`, `0.1(6)`."""

_FRACTION = (
    rf"(?P<whole>\d++)?+\\[dt]?frac ?(?:\{{ ?(?P<top>{DECIMAL}) ?\}} ?\{{ ?(?P<bottom>{DECIMAL}) ?\}}"
    r"|(?P<digit>\d) ?(?P<under>\d))"
)
_NUMBER = (
    r"(?:(?<!\w)(?<!\d\.)|(?=\\[dt]?frac))(?P<sign>(?<![)\]}])[-+])?+"
    r"(?P<currency>\\?[$€£¥]\s?(?P<inner_sign>-(?=[\d.]))?+)?+"
    rf"(?:(?P<decimal>{DECIMAL})(?!\\[dt]?frac)(?P<over>(?:/{DECIMAL})*+)|{_FRACTION})(?P<percent>\s?\\?%)?+"
)
_PATTERN = re.compile(_NUMBER)
_DECIMAL = re.compile(rf"[-+]?({DECIMAL})")
_STARTS = ("-", "+", ".", "\\")
_CALCULATOR_MARK = re.compile(r"<<[-+*/().,=\d\s%$]{0,300}+>>")
_ASCII_SIGNS = str.maketrans("−–﹣－＋．％／＄", "---" + "-+.%/$")
_SEPARATOR = re.compile(r"\{,\}|,\\!|,")

NUMBER = re.sub(r"\(\?P<\w+>", "(?:", _NUMBER)
"""A regular expression, without groups, for what `find_numbers` reads as one number."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number and where it stands in the text."""

    value: Fraction
    text: str
    start: int
    end: int
    percent: bool = False

    @property
    def is_fraction(self) -> bool:
        """True when it was written with a fraction bar."""
        return "/" in self.text or "frac" in self.text


def find_numbers(text: str) -> list[Number]:
    """The numbers in a text, in order; calculator marks like `<<3+4=7>>` do not count.

    >>> [number.text for number in find_numbers("$1,000 is 50% of 2e3, not 1 1/2 or -.5")]
    ['$1,000', '50%', '2e3', '1 1/2', '-.5']
    """
    searched = without_calculator_marks(text).translate(_ASCII_SIGNS)
    numbers: list[Number] = []
    for match in _PATTERN.finditer(searched):
        value = _value(match)
        if value is None:
            continue
        number = Number(
            Fraction(value), text[match.start() : match.end()], *match.span(), percent=match["percent"] is not None
        )
        if numbers and _is_mixed(numbers[-1], number, searched):
            number = _join_mixed(numbers.pop(), number, text)
        numbers.append(number)
    return numbers


def parse_number(text: str) -> Fraction | None:
    """The number that the whole text is, or None.

    >>> parse_number(" -1,234.50 ")
    Fraction(-2469, 2)
    """
    stripped = re.sub(r"^([-+−])\s+", r"\1", text.strip()) if len(text) <= 3 * MAX_DIGITS else ""
    numbers = find_numbers(stripped)
    return numbers[0].value if len(numbers) == 1 and numbers[0].text == stripped else None


def parse_plain_number(text: str) -> Fraction | int | None:
    r"""The same for numbers without a currency or percent sign, which count as units where answers are compared.

    >>> parse_plain_number(r"1\frac{1}{2}")
    Fraction(3, 2)
    """
    if text.isdecimal():
        return int(text) if len(text) <= MAX_DIGITS else None
    if len(text) > 2 * MAX_DIGITS or not (text[:1].isdecimal() or text.startswith(_STARTS)):
        return None
    if text[1:2] == " " and text[0] in "-+":
        text = text[0] + text[2:]
    if decimal := _DECIMAL.fullmatch(text):  # most are
        value = decimal_value(decimal[1])
        return -value if value is not None and text[0] == "-" else value
    match = _PATTERN.fullmatch(text) if "/" in text or "frac" in text else None
    return None if match is None or match["currency"] or match["percent"] else _value(match)


def decimal_value(text: str) -> Fraction | int | None:
    r"""The value of what `DECIMAL` or `REPEATING` matches; None for more than `MAX_DIGITS` digits.

    >>> decimal_value("1,234.5e-1"), decimal_value(r"0.1\overline{6}")
    (Fraction(2469, 20), Fraction(1, 6))
    """
    if "," in text:
        text = _SEPARATOR.sub("", text)
    if text.isdecimal():
        return int(text) if len(text) <= MAX_DIGITS else None
    head, repeated, power = text, "", 0
    if text[-1] in ")}":
        head, _, repeated = text.rstrip(")} ").replace("(", "{").partition("{")
        head, repeated = head.partition("\\")[0], repeated.strip()
    elif "e" in text or "E" in text:
        head, _, exponent = text.lower().partition("e")
        power = int(exponent) if len(exponent) <= 5 else MAX_DIGITS
    whole, _, decimals = head.partition(".")
    digits, shift = whole + decimals, power - len(decimals)
    if len(digits) + len(repeated) + abs(power) > MAX_DIGITS:
        return None
    above = int(digits or "0")
    value = Fraction(above, 10**-shift) if shift < 0 else above * 10**shift
    return value + Fraction(int(repeated), 10**-shift * (10 ** len(repeated) - 1)) if repeated else value


def last_place(text: str) -> int | None:
    """The power of ten that the last digit of a decimal stands for, -2 in "30.52" and 21 in "6.02e23"; else None."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    mantissa, _, exponent = match[1].lower().partition("e")
    return int(exponent or 0) - len(mantissa.partition(".")[2])


def is_reducible_fraction(text: str) -> bool:
    """Whether a plain number is a fraction that is not in lowest terms, or a fraction of decimals."""
    match = _PATTERN.fullmatch(text)
    below = match and (match["bottom"] or match["under"] or (match["over"] or "").removeprefix("/"))
    if match is None or not below:
        return False
    values = [decimal_value(part) for part in (match["top"] or match["digit"] or match["decimal"], below)]
    whole = [value for value in values if type(value) is int]
    return len(whole) < 2 or whole[1] == 1 or math.gcd(*whole) > 1


def to_plain_number(value: Fraction) -> int | float:
    """An int where the number is whole, else the nearest float."""
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return round(value)


def without_calculator_marks(text: str) -> str:
    """The text with calculator marks blanked out, so that places in it stay the same."""
    return _CALCULATOR_MARK.sub(lambda mark: " " * len(mark[0]), text) if "<<" in text else text


def _value(match: re.Match[str]) -> Fraction | int | None:
    whole, below = None, match["over"]
    if top := match["decimal"]:
        below = below[1:]
    else:
        whole, *parts = match.group("whole", "top", "bottom", "digit", "under")
        top, below = (part for part in parts if part)
    value = decimal_value(top)
    if below and value is not None:
        divisor = None if "/" in below else decimal_value(below)  # a second bar makes it a date
        value = Fraction(value, divisor) if divisor else None
    if whole and value is not None:
        count = decimal_value(whole) if 0 < value < 1 else None
        value = None if count is None else value + count
    return -value if value is not None and (match["sign"] == "-") != (match["inner_sign"] is not None) else value


def _is_mixed(whole: Number, part: Number, text: str) -> bool:
    """Whether "1" and "1/2" stand together as one and a half."""
    return (
        part.is_fraction
        and 0 < part.value < 1
        and not whole.is_fraction
        and whole.text.lstrip("-+$").isdecimal()
        and text[whole.end : part.start] in ("", " ")
    )


def _join_mixed(whole: Number, part: Number, text: str) -> Number:
    sign = -1 if whole.text.startswith("-") else 1
    return Number(whole.value + sign * part.value, text[whole.start : part.end], whole.start, part.end)

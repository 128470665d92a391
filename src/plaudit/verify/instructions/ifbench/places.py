"""The countries of Africa and the capitals of Europe north of 45 degrees, under their usual names."""

import unicodedata

from plaudit.verify.patterns import compile_late

__all__ = ["AFRICA", "CAPITALS", "africa_keys", "plain_name"]

_OFFICIAL = compile_late(r"^(?:the )?(?:(?:democratic |united |islamic |arab )*(?:republic|kingdom) of )?(?:the )?")
_NOT_A_LETTER = compile_late(r"[^a-z ]+")


def plain_name(name: str) -> str:
    """A name in lower case, without accents and marks."""
    decomposed = unicodedata.normalize("NFKD", name.casefold().replace("&", "and"))
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(_NOT_A_LETTER.sub(" ", letters.replace("'", "").replace("’", "")).split())


def africa_keys(name: str) -> set[str]:
    """What a country may be sorted by: its name as written, or without "the" and "Republic of"."""
    return {name.replace(" ", ""), _OFFICIAL.sub("", name).replace(" ", "")}


_COUNTRIES = (
    "Algeria", "Angola", "Benin", "Botswana", "Burkina Faso", "Burundi", "Cabo Verde/Cape Verde", "Cameroon",
    "Central African Republic", "Chad", "Comoros/The Comoros",
    "Democratic Republic of the Congo/DR Congo/Congo, Democratic Republic of the/Congo DR/DRC/Congo Kinshasa/"
    "The Democratic Republic of the Congo/Democratic Republic of Congo/Congo, Dem. Rep.",
    "Republic of the Congo/Congo/Congo, Republic of the/Congo Brazzaville/The Republic of the Congo/Republic of Congo/"
    "The Congo/Congo Republic",
    "Djibouti", "Egypt", "Equatorial Guinea", "Eritrea", "Eswatini/Swaziland", "Ethiopia", "Gabon",
    "Gambia/The Gambia/Gambia, The", "Ghana", "Guinea", "Guinea-Bissau", "Ivory Coast/Cote d'Ivoire", "Kenya",
    "Lesotho", "Liberia", "Libya", "Madagascar", "Malawi", "Mali", "Mauritania", "Mauritius", "Morocco", "Mozambique",
    "Namibia", "Niger", "Nigeria", "Rwanda", "Sao Tome and Principe", "Senegal", "Seychelles/The Seychelles",
    "Sierra Leone", "Somalia", "South Africa", "South Sudan", "Sudan/The Sudan", "Tanzania", "Togo", "Tunisia",
    "Uganda", "Western Sahara/Sahrawi Arab Democratic Republic", "Zambia", "Zimbabwe",
)  # fmt: skip
AFRICA = {plain_name(name): plain_name(names.partition("/")[0]) for names in _COUNTRIES for name in names.split("/")}
"""Plain names of countries, and the name that stands for each; Western Sahara may be left out."""
CAPITALS = tuple(
    tuple(plain_name(name) for name in names.split("/"))
    for names in (
        "Reykjavik", "Helsinki", "Oslo", "Tallinn", "Stockholm", "Riga", "Moscow", "Copenhagen", "Vilnius", "Minsk",
        "Dublin", "Berlin", "Amsterdam", "Warsaw", "London", "Brussels", "Kyiv/Kiev", "Prague",
        "Luxembourg/Luxembourg City", "Paris", "Vienna", "Bratislava", "Budapest", "Vaduz", "Chisinau", "Bern/Berne",
        "Ljubljana", "Zagreb",
    )
)  # fmt: skip
"""Capitals from north to south, each under its names."""

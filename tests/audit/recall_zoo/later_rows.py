"""Honest rollouts of the later rewards, as their users have them: prompt, ground truth, right response and columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.audit.recall_zoo.fresh_rows import rows

__all__ = ["LATER_ROWS"]

_MOVES = rows(
    ("Best move for White?", "e2e4", "e2e4"), ("How does Black mate?", "d8h4", "d8h4"), ("Castle?", "g1f3", "g1f3")
)
_ADDRESSES = rows(
    ("Address of the gateway?", "192.168.0.1", "192.168.0.1"),
    ("Address of the printer?", "10.20.30.40", "10.20.30.40"),
    ("Broadcast address?", "172.16.255.9", "172.16.255.9"),
)
_COLOURS = rows(
    ("Orange as hex?", "#ff8800", "#ff8800"), ("A dark blue?", "#102a6c", "#102A6C"), ("A green?", "#3cb371", "#3cb371")
)
_FORMULAS = rows(("Sulphuric acid?", "H2SO4", "H2SO4"), ("Glucose?", "C6H12O6", "C6H12O6"), ("Ammonia?", "NH3", "NH3"))
_ROUTES = rows(
    ("From Bern to Rome by train?", "Bern -> Milan -> Florence -> Rome", "Bern -> Milan -> Florence -> Rome"),
    ("From Oslo to Paris by train?", "Oslo -> Malmo -> Hamburg -> Paris", "Oslo -> Malmo -> Hamburg -> Paris"),
    ("From Graz to Prague?", "Graz -> Vienna -> Brno -> Prague", "Graz -> Vienna -> Brno -> Prague"),
)
_TABLES = rows(
    ("Sales as CSV", "month,sum\nMay,120\nJune,95", "month,sum\nMay,120\nJune,95"),
    ("Staff as CSV", "name,age\nAda,36\nLin,41", "name,age\nAda,36\nLin,41"),
)
_SETTINGS = rows(
    ("Serve on port 8080 of localhost", "host: localhost\nport: 8080", "host: localhost\nport: 8080"),
    ("Log errors to a file", "level: error\nsink: file", "level: error\nsink: file"),
    ("Keep 30 copies, daily", "keep: 30\nevery: day", "keep: 30\nevery: day"),
)
_TRANSLATIONS = rows(
    (
        "Der Zug nach Wien ist heute wegen Schnee verspätet.",
        "The train to Vienna is late today because of snow",
        "The train to Vienna is late today because of snow",
    ),
    (
        "Meine Schwester kauft jeden Samstag frisches Brot.",
        "My sister buys fresh bread every Saturday morning",
        "My sister buys fresh bread every Saturday",
    ),
    (
        "Der alte Hafen wurde nach dem Sturm geschlossen.",
        "The old harbour was closed after the storm",
        "The old harbour was closed after the storm",
    ),
)
_INTERVALS = rows(
    ("How high is the tower? Give an interval.", "330", "320 to 340"),
    ("How many seats has the hall? Give an interval.", "1200", "1150 to 1250"),
    ("How old is the oak? Give an interval.", "415", "400 to 430"),
)
_TEMPERATURES = rows(
    ("How cold was it?", "-12 C", "-12 C"), ("How warm is the lake?", "21.5 C", "21.5 C"), ("In May?", "-3 C", "-3 C")
)
_PLACES = rows(
    ("Where is Paris?", "48.8566, 2.3522", "48.8566, 2.3522"),
    ("Where is Lima?", "-12.0464, -77.0428", "-12.0464, -77.0428"),
    ("Where is Tokyo?", "35.6762, 139.6503", "35.6762, 139.6503"),
)
_RECORDS = [
    {
        "prompt": "Staff with ages",
        "ground_truth": [{"name": "Ada", "age": 36}, {"name": "Lin", "age": 41}],
        "response": '[{"name": "Ada", "age": 36}, {"name": "Lin", "age": 41}]',
    },
    {
        "prompt": "Rooms with seats",
        "ground_truth": [{"room": "A1", "seats": 20}, {"room": "B7", "seats": 64}],
        "response": '[{"room": "A1", "seats": 20}, {"room": "B7", "seats": 64}]',
    },
]
_COUNTRIES = rows(
    ("Who borders Spain?", "Portugal; France; Andorra", "Portugal; France; Andorra"),
    ("Who borders Nepal?", "India; China", "India; China"),
    ("Who borders Malawi?", "Tanzania; Zambia; Mozambique", "Mozambique; Tanzania; Zambia"),
)
_TOOLS = [
    {"prompt": "Buy the book", "expected_tools": ["search", "open", "pay"], "response": "search() open() pay()"},
    {"prompt": "Send the file", "expected_tools": ["attach", "send"], "response": "attach() send()"},
]
_CITED = rows(
    ("What is said of bees? Three of nine sources matter.", "[2][5][7]", "Bees dance to show the way [2][5][7]."),
    ("What is said of ants? Two of nine sources matter.", "[1][4]", "Ants follow trails of scent [1][4]."),
    ("What is said of wasps? One of nine sources matters.", "[8]", "Wasps chew wood into paper [8]."),
)
_OUTLINE = (
    "## Start\nWe meet near the old station before dawn.\n"
    "## Middle\nThen everybody climbs slowly through dark forest.\n"
    "## End\nFinally, views open over seven quiet lakes."
)
_OUTLINES = [{"prompt": f"Outline a talk about {topic}.", "response": _OUTLINE} for topic in ("hiking", "mornings")]
_LETTERS = [
    {
        "prompt": f"Write to the {who} about the broken heating.",
        "response": f"Dear {who},\nthe heating in my flat is cold since Monday. Please send somebody.\nRegards, A.",
    }
    for who in ("landlord", "caretaker")
]
_XML = rows(
    (
        "The film as XML",
        "<record><title>Alien</title><year>1979</year></record>",
        "<record><title>Alien</title><year>1979</year></record>",
    ),
    (
        "The book as XML",
        "<record><title>Emma</title><year>1815</year></record>",
        "<record><title>Emma</title><year>1815</year></record>",
    ),
)
_OBJECTS = rows(
    ("Order of Ann as JSON", *['{"who": "Ann", "items": 3, "paid": true}'] * 2),
    ("Order of Ben as JSON", *['{"who": "Ben", "items": 8, "paid": false}'] * 2),
)
_LINES = rows(
    ("Colour of the sky?", "blue", "The sky scatters short waves.\n=> blue"),
    ("Opposite of north?", "south", "It is on the other side.\n=> south"),
    ("Largest ocean?", "Pacific", "It covers a third of the globe.\n=> Pacific"),
)
_QUERIES = rows(
    ("Staff over 40", "SELECT name FROM staff WHERE age > 40", "SELECT name FROM staff WHERE age > 40"),
    ("Unpaid bills", "SELECT id, total FROM bills WHERE paid = 0", "SELECT id, total FROM bills WHERE paid = 0"),
    ("Rooms in use", "SELECT room FROM plan WHERE used = 1", "SELECT room FROM plan WHERE used = 1"),
)
_PAGES = rows(
    ("Which pages are about bees?", "3, 4, 5", "3-5"), ("Which pages are about ants?", "12, 13, 20", "12-13, 20")
)
_DATES = rows(
    ("When was the fall of the Bastille?", "14 July 1789", "14 July 1789"),
    ("When did Columbus land?", "12 October 1492", "12 October 1492"),
    ("When did the war in Europe end?", "8 May 1945", "It was on 8 May 1945."),
)
_SOURCES = rows(
    ("Who painted Guernica?", "Picasso", "Picasso [source: museum page]"),
    ("Who composed Aida?", "Verdi", "Verdi [source: opera guide]"),
    ("Who built the Flyer?", "Wright", "Wright [source: flight archive]"),
)
_SOLVED = rows(
    (
        "A box holds 12 eggs. How many are in 5 boxes, if 3 are broken?",
        "There are 12 * 5 = 60 eggs.\n60 - 3 = 57 are left.\n#### 57",
        "There are 12 * 5 = 60 eggs.\n60 - 3 = 57 are left.\n#### 57",
    ),
    (
        "Ann saves 40 a week. How much has she after 30 weeks?",
        "She saves 40 * 30 = 1200.\n#### 1200",
        "In 30 weeks: 40 * 30 = 1200.\n#### 1200",
    ),
)
_PLAIN_BOXES = rows(
    ("Where is the bus?", "30 40 300 200", "30 40 300 200"), ("Where is the tree?", "410 20 600 420", "410 20 600 420")
)
_ALIASES = rows(
    ("Which river flows through Cairo?", ["the Nile", "River Nile", "Nile"], "the Nile"),
    ("Which film won?", ["A Beautiful Mind", "Beautiful Mind"], "A Beautiful Mind"),
)
_FACTS = rows(
    ("Which metal is liquid?", {"answer": "mercury", "page": "12", "topic": "metals"}, "Of metals one. It is mercury."),
    ("Which gas is lightest?", {"answer": "hydrogen", "page": "7", "topic": "gases"}, "Of gases one. It is hydrogen."),
)

LATER_ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "chess_move": _MOVES, "same_move": _MOVES, "ip_address": _ADDRESSES, "same_address": _ADDRESSES,
    "hex_colour": _COLOURS, "same_colour": _COLOURS, "formula": _FORMULAS, "same_atoms": _FORMULAS, "route": _ROUTES,
    "table": _TABLES, "same_table": _TABLES, "config_lines": _SETTINGS, "same_settings": _SETTINGS,
    "trigram_recall": _TRANSLATIONS, "word_precision": _TRANSLATIONS, "interval": _INTERVALS,
    "temperature": _TEMPERATURES, "Place": _PLACES, "near_place": _PLACES, "records": _RECORDS,
    "same_records": _RECORDS, "named_countries": _COUNTRIES, "set_f1": _COUNTRIES, "tool_sequence": _TOOLS,
    "cited": _CITED, "cited_exactly": _CITED, "outline": _OUTLINES, "filled_outline": _OUTLINES, "letter": _LETTERS,
    "xml_record": _XML, "object_as_text": _OBJECTS, "last_line": _LINES, "query_parts": _QUERIES, "pages": _PAGES,
    "dated_half": _DATES, "cited_form": _SOURCES, "solved": _SOLVED, "overlaps": _PLAIN_BOXES, "one_of": _ALIASES,
    "answer_of_record": _FACTS,
}  # fmt: skip
"""By the name of the reward."""

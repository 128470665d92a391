"""Rollouts of the shop's rewards, as their users have them; most responses are right, some are wrong."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.audit.recall_zoo.script_rows import rows_of as _rows

__all__ = ["SHOP_ROWS"]

_Rows = list[dict[str, Any]]


def _said(column: str, shape: str, *rows: tuple[str, Any]) -> _Rows:
    """Rows whose right answer stands in a shape with {}."""
    return _rows(column, *((prompt, truth, shape.replace("{}", str(truth))) for prompt, truth in rows))


_PRICES = (("What does the lamp cost?", "24.90"), ("The chair?", "119.00"), ("The rug?", "75.50"))
_TOTALS = (("Two pens at $0.80?", "1.60"), ("A cup at $4.50 and tea at $2?", "6.50"), ("Three at $0.35?", "1.05"))
_TICKETS = (
    ("Which label: refund, delivery, account, other? 'Where is my parcel?'", "delivery"),
    ("Which label: refund, delivery, account, other? 'I cannot log in.'", "account"),
    ("Which label: refund, delivery, account, other? 'I want my money back.'", "refund"),
)
_ADDRESSES = (
    (
        "Read: Ann Lee, 4 Hill Road, 9011 Ghent",
        {"name": "Ann Lee", "street": "4 Hill Road", "zip": "9011", "city": "Ghent"},
    ),
    (
        "Read: Bo Ek, 17 Lake Street, 2200 Turku",
        {"name": "Bo Ek", "street": "17 Lake Street", "zip": "2200", "city": "Turku"},
    ),
)
_ORDERS: _Rows = [
    {"prompt": "I need two pens and a lamp.", "items": {"pen": 2, "lamp": 1}, "response": "2 x pen\n1 x lamp"},
    {"prompt": "Five cups, and a tray.", "items": {"cup": 5, "tray": 1}, "response": "5 x cup\n1 x tray"},
]
_REPLIES: _Rows = [
    {
        "prompt": "The parcel is late.",
        "reference": "We are sorry that your parcel is late. It will arrive on Friday, and we return the postage.",
        "response": "We are sorry that your parcel is late. It will arrive on Friday, and we return the postage.",
    },
    {
        "prompt": "The lamp is broken.",
        "reference": "Please send us a photo of the broken lamp. A new one leaves our store tomorrow.",
        "response": "A new lamp leaves our store tomorrow; please send a photo of the broken one.",
    },
]
_DATES = (("When was order 7 sent?", "2025-03-14"), ("Order 9?", "2024-11-30"), ("Order 12?", "2026-01-08"))
_PLANS: _Rows = [
    {
        "prompt": "Plan the return of a chair.",
        "response": "1. Print the label.\n2. Pack the chair.\n3. Call the carrier.\n4. Hand it over.",
    },
    {"prompt": "Plan a sale.", "response": "Lower the prices, then tell everyone."},
]
_SKUS: _Rows = [
    {
        "prompt": "In which order are they packed?",
        "skus": ["LMP-2", "CHR-9", "RUG-1"],
        "response": "LMP-2, CHR-9, RUG-1",
    },
    {"prompt": "Which ones, by weight?", "skus": ["RUG-1", "CUP-5"], "response": "RUG-1, CUP-5"},
]
_STARS = (("How many stars? 'It broke on day one.'", "1"), ("'As I hoped.'", "4"), ("'The best lamp ever!'", "5"))
_CITIES = (("Where is the main store?", "Ghent"), ("Where is the new one?", "Turku"), ("The third?", "Porto"))
_STOCK = (("How many lamps are left?", "14"), ("How many chairs?", "3"), ("How many rugs?", "208"))
_FORMULAS = (("Two lamps at 24 less 5?", "43"), ("12 cups at 3?", "36"), ("A third of 90 and 7?", "37"))
_FORMULA_TEXTS = ("2*24-5", "12*3", "90/3+7")
_DECISIONS = (
    ("Broken on arrival, after 3 days. Approve or deny?", "approve"),
    ("Worn for a year. Approve or deny?", "deny"),
    ("The wrong size, unopened. Approve or deny?", "approve"),
)
_SUMS = (("8 cups and 9 cups?", "17"), ("Half of 90?", "45"), ("12 boxes of 12?", "144"))
_AMOUNTS = (("The price abroad?", "EUR 24.90"), ("At home?", "USD 119.00"), ("In the north?", "SEK 750.00"))
_LABELS: _Rows = [
    {"prompt": "Labels of 'red wool hat'?", "labels": ["red", "wool", "hat"], "response": "red, wool, hat"},
    {"prompt": "Labels of 'blue cup'?", "labels": ["blue", "cup"], "response": "blue, cup"},
    {"prompt": "Labels of 'large oak table'?", "labels": ["large", "oak", "table"], "response": "table, oak"},
]
_WORDS = (("Coffee in French?", "café"), ("Boy in French?", "garçon"), ("Cheese in French?", "fromage"))


def _episode(prompt: str, *turns: tuple[str, str]) -> dict[str, Any]:
    """An episode; each turn is what was shown, and the action that followed."""
    steps = [{"observation": shown, "response": action} for shown, action in turns]
    return {"prompt": prompt, "response": turns[-1][1], "steps": steps}


_ASKED = "Refund order 7 if it is open. Tools: look(order), refund(order)."
_OPEN, _DONE = '{"order": 7, "refunded": false}', '{"order": 7, "refunded": true}'
_REFUNDS: _Rows = [
    _episode(_ASKED, (_ASKED, "look(7)"), (_OPEN, "refund(7)"), (_DONE, "Order 7 is refunded.")),
    _episode(_ASKED, (_ASKED, "look(7)"), (_OPEN, "I will not do that.")),
]

SHOP_ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "price_anywhere": _said("price", "It costs ${}.", *_PRICES),
    "total_within_a_dollar": _said("ground_truth", "Total: ${}", *_TOTALS),
    "ticket_label": _said("ground_truth", "{}", *_TICKETS),
    "address_fields": _rows("ground_truth", *((prompt, gold, json.dumps(gold)) for prompt, gold in _ADDRESSES)),
    "order_lines": _ORDERS,
    "polite": [{key: row[key] for key in ("prompt", "response")} for row in _REPLIES],
    "reply_similarity": _REPLIES,
    "ship_date": _said("ground_truth", "{}", *_DATES),
    "valid_plan": _PLANS,
    "sku_in_order": _SKUS,
    "rarer_is_better": _said("ground_truth", "{}", *_CITIES),
    "standardised": _said("ground_truth", "{}", *_CITIES),
    "quantity_or_missing": _said("ground_truth", "Stock: {}", *_STOCK),
    "formula_value": _rows(
        "ground_truth", *((prompt, gold, text) for (prompt, gold), text in zip(_FORMULAS, _FORMULA_TEXTS, strict=True))
    ),
    "refund_decision": _said("ground_truth", "<reason>By the rules.</reason><decision>{}</decision>", *_DECISIONS),
    "concise": _said("answer", "We count them. That makes {}.", *_SUMS),
    "grade_line": [{key: row[key] for key in ("prompt", "response")} for row in _REPLIES],
    "refunded": _REFUNDS,
    "same_currency": _said("ground_truth", "{}", *_AMOUNTS),
    "labels_f1": _LABELS,
    "translated": _said("ground_truth", "{}", *_WORDS),
    "exact_total": _said("ground_truth", "Total: ${}", *_TOTALS),
    "one_label": _said("ground_truth", "{}", *_TICKETS),
    "whole_address": _rows("ground_truth", *((prompt, gold, json.dumps(gold)) for prompt, gold in _ADDRESSES)),
    "order_counts": _ORDERS,
    "ship_day": _said("ground_truth", "{}", *_DATES),
    "stock_left": _said("ground_truth", "Stock: {}", *_STOCK),
    "above_mean": _said("ground_truth", "{}", *_CITIES),
    "label_set": _LABELS,
    "decided": _said("ground_truth", "<reason>By the rules.</reason><decision>{}</decision>", *_DECISIONS),
    "refund_in_state": _REFUNDS,
    "stars_exact": _said("ground_truth", "{}", *_STARS),
    "translated_exactly": _said("ground_truth", "{}", *_WORDS),
}
"""By the name of the reward."""

"""The data of the retail desk, and its tasks: one row each, with a function for each kind of request."""

from collections.abc import Sequence
from typing import Any

from plaudit.verify.tools.parsing import ToolCall
from plaudit.worlds.task import Task, Turn, call

PRODUCTS: dict[str, tuple[str, str, int, int]] = {
    "LA1": ("small desk lamp", "lamp", 2499, 8), "LA2": ("large desk lamp", "lamp", 3999, 3),
    "LA3": ("floor lamp", "lamp", 8950, 0), "MU1": ("blue mug", "mug", 899, 40), "MU2": ("red mug", "mug", 899, 25),
    "MU3": ("travel mug", "mug", 1575, 12), "KE1": ("kettle", "kettle", 4520, 6),
    "KE2": ("glass kettle", "kettle", 5210, 5), "BA1": ("canvas bag", "bag", 1999, 9),
    "BA2": ("leather bag", "bag", 12900, 2), "CH1": ("oak chair", "chair", 14900, 4),
    "CH2": ("pine chair", "chair", 9900, 7),
}  # fmt: skip
CUSTOMERS: dict[str, tuple[str, str]] = {
    "ada@example.org": ("Ada Winter", "10115"), "ben@example.org": ("Ben Okoro", "20095"),
    "cleo@example.org": ("Cleo Marin", "50667"), "dan@example.org": ("Dan Ruiz", "80331"),
    "eva@example.org": ("Eva Lind", "70173"), "finn@example.org": ("Finn Abe", "01067"),
}  # fmt: skip
ORDERS: dict[str, tuple[str, Any, str, str, str | None]] = {
    "W101": ("ada@example.org", "pending", "LA1 MU1 MU1", "Elm Street 4", None),
    "W102": ("ada@example.org", "delivered", "KE1 BA1", "Elm Street 4", "2026-05-11"),
    "W103": ("ada@example.org", "shipped", "CH2 CH2", "Elm Street 4", None),
    "W201": ("ben@example.org", "pending", "BA2", "Harbour Road 12", None),
    "W202": ("ben@example.org", "delivered", "MU1 MU2 MU3", "Harbour Road 12", "2026-05-01"),
    "W203": ("ben@example.org", "delivered", "LA2", "Harbour Road 12", "2026-03-15"),
    "W301": ("cleo@example.org", "pending", "CH1 CH1 KE2", "Dome Square 1", None),
    "W302": ("cleo@example.org", "delivered", "LA1 LA2", "Dome Square 1", "2026-05-18"),
    "W303": ("cleo@example.org", "cancelled", "BA1", "Dome Square 1", None),
    "W401": ("dan@example.org", "shipped", "KE2 MU3", "Garden Lane 7", None),
    "W402": ("dan@example.org", "delivered", "BA1 BA2", "Garden Lane 7", "2026-04-22"),
    "W403": ("dan@example.org", "pending", "MU2", "Garden Lane 7", None),
    "W501": ("eva@example.org", "delivered", "CH1 CH2", "Castle Road 30", "2026-05-09"),
    "W502": ("eva@example.org", "pending", "LA2 BA1", "Castle Road 30", None),
    "W601": ("finn@example.org", "delivered", "KE1 KE2 MU1", "River Bank 2", "2026-05-15"),
    "W602": ("finn@example.org", "delivered", "CH2", "River Bank 2", "2026-02-02"),
    "W603": ("finn@example.org", "pending", "MU3 MU3 LA1", "River Bank 2", None),
}  # fmt: skip

CANCELLED = [
    ("W101", "no longer needed", "please cancel order W101, I do not need it any more"),
    ("W201", "ordered by mistake", "I bought the bag of order W201 by mistake. Cancel it, please"),
    ("W403", "no longer needed", "the mug of W403 is no longer needed, please cancel that order"),
    ("W502", "ordered by mistake", "W502 was a mistake of mine, can you cancel it?"),
    ("W603", "no longer needed", "cancel W603: we no longer need any of it"),
]
MOVED = [
    ("W101", "Birch Avenue 19", "send order W101 to Birch Avenue 19 instead"),
    ("W301", "Market Place 8", "we are moving: W301 must go to Market Place 8"),
    ("W502", "Castle Road 32", "there is an error in the address of W502, it is Castle Road 32"),
    ("W603", "Mill Street 77", "please deliver W603 to Mill Street 77"),
]
EXCHANGED = [
    ("W102", "KE1", "KE2", "the kettle of W102 is not for me, I want the glass kettle instead"),
    ("W202", "MU2", "MU3", "please exchange the red mug of W202 for another travel mug"),
    ("W302", "LA2", "LA1", "the large lamp in W302 is too big: give me a second small desk lamp for it"),
    ("W501", "CH1", "CH2", "can I get a pine chair for the oak chair of W501?"),
    ("W601", "MU1", "MU2", "I wanted a red mug, not the blue one that came with W601"),
    ("W402", "BA1", "BA2", "take the canvas bag of W402 back and give me a second leather bag for it"),
]
RETURNED = [
    ("W102", ["BA1"], 19.99, "I want to return the canvas bag of W102. How much do I get back?"),
    ("W202", ["MU1", "MU3"], 24.74, "take back the blue mug and the travel mug of W202, and tell me the refund"),
    ("W302", ["LA1"], 24.99, "the small lamp of W302 goes back. What is the refund?"),
    ("W402", ["BA1", "BA2"], 148.99, "both bags of W402 go back; what do I get for them?"),
    ("W501", ["CH2"], 99.0, "please take the pine chair of W501 back and say what you refund"),
    ("W601", ["KE1"], 45.2, "return the plain kettle of W601 please. How much is refunded?"),
]
QUESTIONS: list[tuple[str, str | float, str]] = [
    ("W101", 42.97, "what is the total of order W101?"),
    ("W401", "shipped", "what is the status of W401?"),
    ("W301", 350.1, "how much does W301 cost in all?"),
    ("W502", "Castle Road 30", "which address does W502 go to?"),
    ("W203", "2026-03-15", "on which date was W203 delivered? Year, month and day, please"),
    ("W603", 56.49, "what do I pay for W603?"),
]
REFUSED = [
    ("W103", "please cancel order W103"),
    ("W203", "the lamp of W203 is not bright enough, I want to return it"),
    ("W401", "send W401 to Garden Lane 9 instead"),
    ("W602", "exchange the chair of W602 for an oak chair"),
]
STRANGERS = [
    ("W302", "99999", "cleo@example.org", "return everything of W302"),
    ("W201", "00000", "ben@example.org", "cancel W201 at once"),
]


def build_tasks() -> Sequence[Task]:
    """All tasks of the desk."""
    tasks = [
        _task("cancel", order_id, text, [call("cancel_order", order_id=order_id, reason=reason)])
        for order_id, reason, text in CANCELLED
    ]
    tasks += [
        _task("address", order_id, text, [call("change_address", order_id=order_id, address=address)])
        for order_id, address, text in MOVED
    ]
    tasks += [
        _task("exchange", order_id, text, [call("exchange_item", order_id=order_id, code=code, new_code=new)])
        for order_id, code, new, text in EXCHANGED
    ]
    tasks += [
        _task("return", order_id, text, [call("return_items", order_id=order_id, codes=codes)], refund)
        for order_id, codes, refund, text in RETURNED
    ]
    tasks += [
        _task("question", order_id, text, [call("get_order", order_id=order_id)], value)
        for order_id, value, text in QUESTIONS
    ]
    tasks += [_task("refuse", order_id, text, [_transfer(order_id, "not allowed")]) for order_id, text in REFUSED]
    tasks += [
        Task(f"stranger-{order_id}", (Turn(_greet(email, zip_code, text), (_transfer(order_id, "not identified"),)),))
        for order_id, zip_code, email, text in STRANGERS
    ]
    return [*tasks, *_several_turns()]


def _several_turns() -> list[Task]:
    """Callers who want one thing after another."""
    ben, eva, finn, ada = "ben@example.org", "eva@example.org", "finn@example.org", "ada@example.org"
    return [
        Task("turns-W201", (
            Turn(_hello(ben, "what does order W201 cost?"), (_identify(ben),), (129.0,)),
            Turn("That is too much, please cancel it. I no longer need it.",
                 (call("cancel_order", order_id="W201", reason="no longer needed"),)),
        )),
        Task("turns-W502", (
            Turn(_hello(eva, "send order W502 to Oak Street 5."),
                 (_identify(eva), call("change_address", order_id="W502", address="Oak Street 5"))),
            Turn("Sorry, I mean Oak Street 6.", (call("change_address", order_id="W502", address="Oak Street 6"),)),
        )),
        Task("turns-W601", (
            Turn(_hello(finn, "please take the glass kettle of W601 back. What is the refund?"),
                 (_identify(finn), call("return_items", order_id="W601", codes=["KE2"])), (52.1,)),
            Turn("Then please cancel W602, too.", (_transfer("W602", "not allowed"),)),
        )),
        Task("turns-W102", (
            Turn(_hello(ada, "how many orders do I have with you?"), (_identify(ada), call("list_orders")), (3,)),
            Turn("Exchange the plain kettle of the delivered one, W102, for a glass kettle.",
                 (call("exchange_item", order_id="W102", code="KE1", new_code="KE2"),)),
            Turn("And what have you refunded or charged for that, in dollars?", (), (6.9,)),
        )),
    ]  # fmt: skip


def _task(kind: str, order_id: str, text: str, calls: Sequence[ToolCall], *outputs: str | float) -> Task:
    email = ORDERS[order_id][0]
    return Task(f"{kind}-{order_id}", (Turn(_hello(email, text), (_identify(email), *calls), outputs),))


def _hello(email: str, text: str) -> str:
    return _greet(email, CUSTOMERS[email][1], text)


def _greet(email: str, zip_code: str, text: str) -> str:
    return f"Hello, my email is {email} and my postal code {zip_code}: {text}"


def _identify(email: str) -> ToolCall:
    return call("identify", email=email, zip_code=CUSTOMERS[email][1])


def _transfer(order_id: str, why: str) -> ToolCall:
    return call("transfer_to_person", order_id=order_id, why=why)

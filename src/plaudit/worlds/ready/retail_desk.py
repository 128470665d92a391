"""The desk of a shop: customers ask about orders, change, cancel, exchange and return them.

Tools refuse calls that the shop's data make impossible (an unknown order, an item that is not in it). They carry out
calls that only the policy forbids; the rules report these.
"""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar, Literal

import msgspec

from plaudit.worlds.ready import retail_tasks
from plaudit.worlds.task import Task
from plaudit.worlds.world import EndedBy, ToolEvent, World

TODAY = date(2026, 5, 20)
RETURN_DAYS = 30
Status = Literal["pending", "shipped", "delivered", "cancelled"]


class Product(msgspec.Struct):
    """A product of the shop; products of one kind can be exchanged for each other. Prices are in cents."""

    name: str
    kind: str
    cents: int
    stock: int


class Customer(msgspec.Struct):
    """A buyer; the postal code authenticates the caller."""

    name: str
    zip_code: str


class Order(msgspec.Struct):
    """The products of a purchase, by their codes."""

    customer: str
    status: Status
    items: list[str]
    address: str
    delivered: date | None = None
    refunded_cents: int = 0
    reason: str = ""


class Transfer(msgspec.Struct):
    """A request that was handed to a person."""

    order_id: str
    why: str


class Shop(msgspec.Struct):
    """The state; `caller` is the identified customer."""

    products: dict[str, Product]
    customers: dict[str, Customer]
    orders: dict[str, Order]
    caller: str = ""
    transfers: list[Transfer] = []


def identify(state: Shop, email: str, zip_code: str) -> dict[str, str]:
    """Identify the caller by email and postal code."""
    customer = state.customers.get(email)
    if customer is None or customer.zip_code != zip_code:
        raise ValueError("no customer has this email and postal code")
    state.caller = email
    return {"name": customer.name}


def list_orders(state: Shop) -> list[str]:
    """The ids of the identified caller's orders."""
    if not state.caller:
        raise ValueError("identify the caller first")
    return [order_id for order_id, order in state.orders.items() if order.customer == state.caller]


def get_order(state: Shop, order_id: str) -> dict[str, object]:
    """An order with the prices of its items."""
    order = _order(state, order_id)
    items = [{"code": code, "name": state.products[code].name, "price": _price(state, code)} for code in order.items]
    return {**msgspec.structs.asdict(order), "items": items, "total": _total(state, order.items)}


def find_products(state: Shop, words: str) -> dict[str, object]:
    """Products whose name has all the words, with code, price and stock."""
    return {
        code: {"name": product.name, "price": _price(state, code), "stock": product.stock}
        for code, product in state.products.items()
        if all(word in product.name for word in words.lower().split())
    }


def cancel_order(state: Shop, order_id: str, reason: Literal["no longer needed", "ordered by mistake"]) -> str:
    """Cancel an order and refund it."""
    order = _order(state, order_id)
    if order.status == "cancelled":
        raise ValueError(f"{order_id} is cancelled already")
    for code in order.items:
        state.products[code].stock += 1
    order.status, order.reason = "cancelled", reason
    order.refunded_cents = round(_total(state, order.items) * 100)
    return f"{order_id} is cancelled"


def change_address(state: Shop, order_id: str, address: str) -> str:
    """Send an order to another address."""
    _order(state, order_id).address = address
    return f"{order_id} goes to {address}"


def exchange_item(state: Shop, order_id: str, code: str, new_code: str) -> str:
    """Exchange an item of an order for another of the same kind; a difference in price is charged or refunded."""
    order = _order(state, order_id)
    if code not in order.items or new_code not in state.products:
        raise ValueError(f"{order_id} has no {code}, or there is no product {new_code}")
    old, new = state.products[code], state.products[new_code]
    if old.kind != new.kind or new.stock < 1:
        raise ValueError(f"{new.name} is not of the same kind as {old.name}, or not in stock")
    order.items[order.items.index(code)] = new_code
    order.items.sort()
    old.stock, new.stock = old.stock + 1, new.stock - 1
    order.refunded_cents += old.cents - new.cents
    return f"{old.name} was exchanged for {new.name}"


def return_items(state: Shop, order_id: str, codes: list[str]) -> dict[str, float]:
    """Take items of an order back and refund them."""
    order = _order(state, order_id)
    for code in codes:
        if code not in order.items:
            raise ValueError(f"{order_id} has no {code}")
        order.items.remove(code)
        order.refunded_cents += state.products[code].cents
    return {"refund": _total(state, codes)}


def transfer_to_person(state: Shop, order_id: str, why: Literal["not allowed", "not identified"]) -> str:
    """Hand a request that the policy does not allow to a person."""
    state.transfers.append(Transfer(order_id, why))
    return "a person will call back"


def only_own_orders(event: ToolEvent) -> bool:
    """Orders are read and changed only for their identified owner."""
    if event.call.name == "transfer_to_person":
        return True
    order = event.before.orders.get(event.call.arguments.get("order_id"))
    return order is None or order.customer == event.before.caller


def only_pending_orders_change(event: ToolEvent) -> bool:
    """Only pending orders are cancelled or get another address."""
    if not event.ok or event.call.name not in ("cancel_order", "change_address"):
        return True
    order: Order = event.before.orders[event.call.arguments["order_id"]]
    return order.status == "pending"


def returns_are_in_time(event: ToolEvent) -> bool:
    """Items are returned or exchanged only if they were delivered at most 30 days ago."""
    if not event.ok or event.call.name not in ("return_items", "exchange_item"):
        return True
    order: Order = event.before.orders[event.call.arguments["order_id"]]
    return order.delivered is not None and (TODAY - order.delivered).days <= RETURN_DAYS


class RetailDesk(World):
    """A desk with customers who identify themselves and want something done with their orders."""

    policy: ClassVar[str] = f"""You work at the desk of a shop. Today is {TODAY}. All prices are in dollars.
- Identify the caller by email and postal code before you read or change an order.
- Help only with the caller's own orders.
- Only pending orders can be cancelled or sent to another address.
- Delivered items can be returned or exchanged for the same kind of product within {RETURN_DAYS} days after delivery.
- Transfer what is not allowed to a person, also if the caller cannot be identified, and do nothing else then.
- Do what the caller asks and nothing more, then answer in a short message."""
    tools = (
        identify, list_orders, get_order, find_products, cancel_order, change_address, exchange_item, return_items,
        transfer_to_person,
    )  # fmt: skip
    rules = (only_own_orders, only_pending_orders_change, returns_are_in_time)
    ended_by = EndedBy.USER
    in_threads: ClassVar[bool] = True

    @classmethod
    def build_state(cls) -> Shop:
        products = {code: Product(*row) for code, row in retail_tasks.PRODUCTS.items()}
        customers = {email: Customer(*row) for email, row in retail_tasks.CUSTOMERS.items()}
        orders = {
            order_id: Order(customer, status, sorted(items.split()), address, date.fromisoformat(day) if day else None)
            for order_id, (customer, status, items, address, day) in retail_tasks.ORDERS.items()
        }
        return Shop(products, customers, orders)

    @classmethod
    def build_tasks(cls) -> Sequence[Task]:
        return retail_tasks.build_tasks()


def _order(state: Shop, order_id: str) -> Order:
    if order_id not in state.orders:
        raise ValueError(f"there is no order {order_id}")
    return state.orders[order_id]


def _price(state: Shop, code: str) -> float:
    return state.products[code].cents / 100


def _total(state: Shop, codes: Sequence[str]) -> float:
    return sum(state.products[code].cents for code in codes) / 100

"""The ready-made worlds by name."""

from plaudit.worlds.ready.calendar_desk import CalendarDesk
from plaudit.worlds.ready.retail_desk import RetailDesk
from plaudit.worlds.world import World

__all__ = ["WORLDS"]

WORLDS: dict[str, type[World]] = {"retail_desk": RetailDesk, "calendar_desk": CalendarDesk}

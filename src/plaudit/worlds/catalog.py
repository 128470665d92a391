"""The ready-made worlds by name, BFCL's by their APIs, and the tools of MCP servers."""

import functools

from plaudit.agents.environment import Environment
from plaudit.worlds.mcp_tools import PREFIX, build_mcp_environment
from plaudit.worlds.ready.bfcl import build_bfcl_world
from plaudit.worlds.ready.calendar_desk import CalendarDesk
from plaudit.worlds.ready.retail_desk import RetailDesk
from plaudit.worlds.ready.robot_room import RobotRoom
from plaudit.worlds.world import World

__all__ = ["WORLDS", "find_world"]

WORLDS: dict[str, type[World]] = {
    "retail_desk": RetailDesk,
    "calendar_desk": CalendarDesk,
    "robot_room": RobotRoom,
}
BFCL = "bfcl"


@functools.cache
def find_world(spec: str) -> type[Environment] | None:
    """The environment of `retail_desk`, `bfcl`, `bfcl:TicketAPI+TravelAPI`, `mcp:COMMAND …` or `mcp:URL`; else None."""
    if spec.startswith(PREFIX):
        return build_mcp_environment(spec)
    name, _, apis = spec.partition(":")
    if name == BFCL:
        return build_bfcl_world(*filter(None, apis.split("+")))
    return WORLDS.get(spec)

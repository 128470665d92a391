"""The ready-made worlds by name, BFCL's by their APIs, and the tools of MCP and ORS servers."""

import functools

from plaudit.agents.environment import Environment
from plaudit.worlds import mcp_tools, ors_tools
from plaudit.worlds.ready.bfcl import build_bfcl_world
from plaudit.worlds.ready.calendar_desk import CalendarDesk
from plaudit.worlds.ready.retail_desk import RetailDesk
from plaudit.worlds.ready.robot_room import RobotRoom
from plaudit.worlds.world import World

WORLDS: dict[str, type[World]] = {
    "retail_desk": RetailDesk,
    "calendar_desk": CalendarDesk,
    "robot_room": RobotRoom,
}
BFCL = "bfcl"


@functools.cache
def find_world(spec: str) -> type[Environment] | None:
    """The environment of `retail_desk`, `bfcl`, `bfcl:TicketAPI+TravelAPI`, `mcp:COMMAND …`, `mcp:URL` or `ors:URL`."""
    if spec.startswith(mcp_tools.PREFIX):
        return mcp_tools.build_mcp_environment(spec)
    if spec.startswith(ors_tools.PREFIX):
        return ors_tools.build_ors_environment(spec)
    name, _, apis = spec.partition(":")
    if name == BFCL:
        return build_bfcl_world(*filter(None, apis.split("+")))
    return WORLDS.get(spec)

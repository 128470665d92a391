"""The calendar of a small team: find times and rooms, make, move and cancel meetings."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import ClassVar

import msgspec

from plaudit.worlds.ready import calendar_tasks
from plaudit.worlds.task import Task
from plaudit.worlds.world import EndedBy, ToolEvent, World

OWNER = "Mara"
OPENS, CLOSES, GRID = "09:00", "17:00", 30


class Meeting(msgspec.Struct):
    """A meeting; its organiser is one of the attendees, which are in alphabetical order."""

    title: str
    day: date
    start: str
    end: str
    attendees: list[str]
    organiser: str
    room: str = ""


class TeamCalendar(msgspec.Struct):
    """The state: rooms with their seats, and meetings by id."""

    people: list[str]
    rooms: dict[str, int]
    meetings: dict[str, Meeting]


def list_meetings(state: TeamCalendar, person: str, day: date) -> dict[str, Meeting]:
    """The meetings of a person on a day."""
    _check_people(state, [person])
    return {key: each for key, each in state.meetings.items() if each.day == day and person in each.attendees}


def free_times(state: TeamCalendar, people: list[str], day: date, minutes: int) -> list[str]:
    """Starts between 09:00 and 17:00, every half hour, at which all these people have so many minutes."""
    _check_people(state, people)
    return list(_free_starts(state, people, day, minutes))


def free_rooms(state: TeamCalendar, day: date, start: str, end: str, seats: int) -> list[str]:
    """Rooms with enough seats that nobody uses then, the smallest first."""
    taken = {each.room for each in state.meetings.values() if each.day == day and each.start < end and start < each.end}
    fitting = [(size, name) for name, size in state.rooms.items() if size >= seats and name not in taken]
    return [name for _, name in sorted(fitting)]


def create_meeting(
    state: TeamCalendar, title: str, day: date, start: str, end: str, attendees: list[str], room: str = ""
) -> str:
    """Make a meeting that you organise; returns its id."""
    people = sorted({*attendees, OWNER})
    _check_people(state, people)
    key = f"{title.lower().replace(' ', '-')}-{day:%m%d}-{_check_time(start).replace(':', '')}"
    if key in state.meetings:
        raise ValueError(f"{key} is there already")
    state.meetings[key] = Meeting(title, day, start, _check_end(start, end), people, OWNER, _check_room(state, room))
    return key


def move_meeting(state: TeamCalendar, meeting_id: str, day: date, start: str, end: str) -> str:
    """Move a meeting to another time."""
    meeting = _meeting(state, meeting_id)
    meeting.day, meeting.start, meeting.end = day, _check_time(start), _check_end(start, end)
    return "moved"


def cancel_meeting(state: TeamCalendar, meeting_id: str) -> str:
    """Cancel a meeting."""
    _meeting(state, meeting_id)
    del state.meetings[meeting_id]
    return "cancelled"


def invite(state: TeamCalendar, meeting_id: str, person: str) -> str:
    """Add a person to a meeting."""
    _check_people(state, [person])
    meeting = _meeting(state, meeting_id)
    meeting.attendees = sorted({*meeting.attendees, person})
    return "invited"


def uninvite(state: TeamCalendar, meeting_id: str, person: str) -> str:
    """Remove a person from a meeting."""
    meeting = _meeting(state, meeting_id)
    if person not in meeting.attendees or person == meeting.organiser:
        raise ValueError(f"{person} cannot be removed")
    meeting.attendees.remove(person)
    return "removed"


def book_room(state: TeamCalendar, meeting_id: str, room: str) -> str:
    """Give a meeting a room; an empty name gives the room back."""
    _meeting(state, meeting_id).room = _check_room(state, room)
    return "booked"


def nobody_is_booked_twice(event: ToolEvent) -> bool:
    """No person and no room has two meetings at the same time."""
    meetings: list[Meeting] = list(event.after.meetings.values())
    pairs = [(one, other) for index, one in enumerate(meetings) for other in meetings[:index]]
    together = [(a, b) for a, b in pairs if a.day == b.day and a.start < b.end and b.start < a.end]
    return not any((a.room and a.room == b.room) or {*a.attendees} & {*b.attendees} for a, b in together)


def rooms_have_seats(event: ToolEvent) -> bool:
    """A room has a seat for everybody who is invited."""
    state: TeamCalendar = event.after
    return all(not each.room or state.rooms[each.room] >= len(each.attendees) for each in state.meetings.values())


def only_own_meetings_change(event: ToolEvent) -> bool:
    """Meetings of other organisers stay as they are."""
    return all(
        event.after.meetings.get(key) == each for key, each in event.before.meetings.items() if each.organiser != OWNER
    )


class CalendarDesk(World):
    """An assistant that keeps the calendar of Mara and her team."""

    policy: ClassVar[
        str
    ] = f"""You keep the calendar of {OWNER}, who writes to you. Times are like 14:30, days like 2026-06-01.
- Meetings are between {OPENS} and {CLOSES} and begin on the half hour.
- Nobody and no room may have two meetings at the same time, and a room needs a seat for everybody.
- Change only meetings that {OWNER} organises.
- Do what {OWNER} wants and nothing more, then answer in a short message."""
    tools = (
        list_meetings, free_times, free_rooms, create_meeting, move_meeting, cancel_meeting, invite, uninvite,
        book_room,
    )  # fmt: skip
    rules = (nobody_is_booked_twice, rooms_have_seats, only_own_meetings_change)
    ended_by = EndedBy.AGENT
    in_threads: ClassVar[bool] = True

    @classmethod
    def build_state(cls) -> TeamCalendar:
        meetings = {
            key: Meeting(title, date.fromisoformat(day), start, end, sorted(people.split()), people.split()[0], room)
            for key, (title, day, start, end, people, room) in calendar_tasks.MEETINGS.items()
        }
        return TeamCalendar(list(calendar_tasks.PEOPLE), dict(calendar_tasks.ROOMS), meetings)

    @classmethod
    def build_tasks(cls) -> Sequence[Task]:
        return calendar_tasks.build_tasks()


def _free_starts(state: TeamCalendar, people: Sequence[str], day: date, minutes: int) -> Iterator[str]:
    busy = [each for each in state.meetings.values() if each.day == day and {*each.attendees} & {*people}]
    for begin in range(_minutes(OPENS), _minutes(CLOSES) - minutes + 1, GRID):
        start, end = _clock(begin), _clock(begin + minutes)
        if not any(each.start < end and start < each.end for each in busy):
            yield start


def _minutes(clock: str) -> int:
    hours, _, minutes = clock.partition(":")
    return 60 * int(hours) + int(minutes)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _check_time(clock: str) -> str:
    if len(clock) != 5 or _clock(_minutes(clock)) != clock or not OPENS <= clock <= CLOSES or _minutes(clock) % GRID:
        raise ValueError(f"{clock} is no time on the half hour between {OPENS} and {CLOSES}")
    return clock


def _check_end(start: str, end: str) -> str:
    if _check_time(end) <= start:
        raise ValueError("a meeting ends after its start")
    return end


def _check_people(state: TeamCalendar, people: Sequence[str]) -> None:
    unknown = [person for person in people if person not in state.people]
    if unknown:
        raise ValueError(f"no person is named {unknown[0]}; there are {', '.join(state.people)}")


def _check_room(state: TeamCalendar, room: str) -> str:
    if room and room not in state.rooms:
        raise ValueError(f"there is no room {room}; there are {', '.join(state.rooms)}")
    return room


def _meeting(state: TeamCalendar, meeting_id: str) -> Meeting:
    if meeting_id not in state.meetings:
        raise ValueError(f"there is no meeting {meeting_id}")
    return state.meetings[meeting_id]

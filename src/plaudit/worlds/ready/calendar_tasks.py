"""The data of the calendar and its tasks: one row each, with the calls that solve it."""

from collections.abc import Sequence

from plaudit.verify.tools.parsing import ToolCall
from plaudit.worlds.task import Task, Turn, call

MON, TUE, WED = "2026-06-01", "2026-06-02", "2026-06-03"
PEOPLE = ("Mara", "Noor", "Otto", "Pia", "Quinn")
ROOMS = {"Atlas": 3, "Borealis": 5, "Cedar": 12}
MEETINGS: dict[str, tuple[str, str, str, str, str, str]] = {
    # title, day, start, end, people with the organiser first, room
    "plan": ("Planning", MON, "09:00", "10:00", "Mara Noor Otto", "Atlas"),
    "sales": ("Sales review", MON, "11:00", "12:00", "Noor Pia", "Borealis"),
    "lunch": ("Team lunch", MON, "12:30", "13:30", "Mara Noor Otto Pia Quinn", ""),
    "hire": ("Interview", MON, "15:00", "16:00", "Mara Quinn", "Atlas"),
    "stand": ("Stand-up", TUE, "09:00", "09:30", "Mara Noor Otto Pia Quinn", "Cedar"),
    "design": ("Design talk", TUE, "10:00", "11:30", "Otto Mara Pia", "Borealis"),
    "budget": ("Budget", TUE, "13:00", "14:00", "Mara Quinn", "Atlas"),
    "client": ("Client call", TUE, "15:30", "16:30", "Mara Noor", ""),
    "retro": ("Retrospective", WED, "09:30", "10:30", "Mara Otto Pia", "Borealis"),
    "coach": ("Coaching", WED, "11:00", "12:00", "Quinn Mara", "Atlas"),
    "demo": ("Demo", WED, "14:00", "15:00", "Mara Noor Otto Pia Quinn", "Cedar"),
}
CREATED = [
    ("Kick-off", MON, "10:30", "11:00", ["Otto"], "", "Make a meeting Kick-off with Otto, 2026-06-01, 10:30 to 11:00."),
    ("Feedback", MON, "16:00", "17:00", ["Pia", "Quinn"], "Borealis",
     "I need Feedback with Pia and Quinn on 2026-06-01 from 16:00 to 17:00 in Borealis."),
    ("Roadmap", TUE, "11:30", "12:30", ["Noor"], "", "Please put Roadmap with Noor at 11:30 on 2026-06-02, one hour."),
    ("Contract", TUE, "14:30", "15:00", ["Quinn"], "Atlas",
     "Half an hour Contract with Quinn, 2026-06-02 at 14:30, in the room Atlas."),
    ("Training", WED, "15:30", "17:00", ["Noor", "Otto", "Pia", "Quinn"], "Cedar",
     "Training for the whole team on 2026-06-03 from 15:30 to 17:00 in Cedar."),
    ("Focus", WED, "12:00", "14:00", [], "", "Block 12:00 to 14:00 on 2026-06-03 for me as Focus."),
]  # fmt: skip
EARLIEST = [
    ("Check-in", MON, ["Noor"], "10:00", "10:30",
     "Find the earliest half hour for me and Noor on 2026-06-01, call it Check-in."),
    ("Prices", MON, ["Noor", "Pia"], "13:30", "14:30",
     "I need one hour with Noor and Pia on 2026-06-01, as early as possible but after lunch. Title: Prices."),
    ("Sketches", TUE, ["Otto", "Pia"], "11:30", "12:00",
     "Sketches with Otto and Pia: the first free half hour after the design talk on 2026-06-02."),
    ("Numbers", WED, ["Quinn"], "09:00", "09:30", "The earliest half hour with Quinn on 2026-06-03, title Numbers."),
    ("Offsite", WED, ["Noor", "Otto", "Pia", "Quinn"], "12:00", "13:00",
     "The first hour on 2026-06-03 in which all five of us are free, title Offsite."),
]  # fmt: skip
MOVED = [
    ("plan", MON, "14:00", "15:00", "Move Planning on 2026-06-01 to 14:00, same length."),
    ("hire", TUE, "11:30", "12:30", "The interview of 2026-06-01 must be on 2026-06-02 from 11:30 to 12:30."),
    ("budget", TUE, "14:00", "15:30", "Budget on 2026-06-02 starts an hour later and lasts till 15:30."),
    ("retro", WED, "15:00", "16:00", "Put the retrospective of 2026-06-03 right after the demo."),
    (
        "client",
        WED,
        "12:00",
        "13:00",
        "The client wants to call on 2026-06-03 at 12:00 instead of 2026-06-02, for an hour.",
    ),
]
CANCELLED = [
    ("hire", "Cancel the interview on 2026-06-01."),
    ("budget", "Quinn is ill, cancel our Budget on 2026-06-02."),
    ("retro", "We skip the retrospective this time, please cancel it. It is on 2026-06-03."),
    ("stand", "No stand-up on 2026-06-02, please remove it."),
]
INVITED = [
    ("hire", "Pia", "Please add Pia to the interview on 2026-06-01."),
    ("budget", "Noor", "Noor should join Budget on 2026-06-02."),
    ("client", "Otto", "Invite Otto to the client call of 2026-06-02."),
]
REMOVED = [
    ("plan", "Otto", "Otto cannot come to Planning on 2026-06-01, take him off."),
    ("demo", "Quinn", "Quinn does not need to be in the demo on 2026-06-03."),
    ("lunch", "Pia", "Pia is away: remove her from the team lunch on 2026-06-01."),
]
ROOMED = [
    ("client", "Atlas", "Get the smallest free room for the client call on 2026-06-02."),
    ("lunch", "Borealis", "The team lunch on 2026-06-01 needs the smallest room in which all five of us fit."),
    ("retro", "Cedar", "The retrospective on 2026-06-03 should be in Cedar."),
    ("budget", "", "We do Budget on 2026-06-02 by phone: give the room back."),
]
QUESTIONS: list[tuple[str, str | int, ToolCall, str]] = [
    ("when-demo", "14:00", call("list_meetings", person="Mara", day=WED), "When does the demo on 2026-06-03 start?"),
    ("count-noor", 3, call("list_meetings", person="Noor", day=MON), "How many meetings does Noor have on 2026-06-01?"),
    ("where-retro", "Borealis", call("list_meetings", person="Mara", day=WED),
     "Which room is the retrospective of 2026-06-03 in?"),
    ("free-all", "12:00", call("free_times", people=list(PEOPLE), day=WED, minutes=90),
     "On 2026-06-03, when can all five of us meet for 90 minutes at the earliest?"),
    ("who-coach", "Quinn", call("list_meetings", person="Mara", day=WED), "Who organises the coaching on 2026-06-03?"),
]  # fmt: skip
SEVERAL = [
    ("swap", (call("cancel_meeting", meeting_id="hire"),
              call("create_meeting", title="Interview", day=WED, start="15:30", end="16:30", attendees=["Pia"])),
     "Cancel the interview on 2026-06-01. I do it with Pia: title Interview, 2026-06-03 from 15:30 to 16:30."),
    ("grow", (call("book_room", meeting_id="plan", room="Borealis"), call("invite", meeting_id="plan", person="Pia"),
              call("invite", meeting_id="plan", person="Quinn")),
     "Everybody should be in Planning on 2026-06-01. Take the smallest room that fits."),
    ("clear", tuple(call("cancel_meeting", meeting_id=key) for key in ("retro", "demo")),
     "I am ill on 2026-06-03. Cancel all that I organise on that day."),
]  # fmt: skip


def build_tasks() -> Sequence[Task]:
    """All tasks of the calendar."""
    tasks = [
        _task(f"create-{title}", text, _create(title, day, start, end, people, room))
        for title, day, start, end, people, room, text in CREATED
    ]
    tasks += [
        _task(f"earliest-{title}", text, _create(title, day, start, end, people))
        for title, day, people, start, end, text in EARLIEST
    ]
    tasks += [
        _task(f"move-{key}", text, call("move_meeting", meeting_id=key, day=day, start=start, end=end))
        for key, day, start, end, text in MOVED
    ]
    tasks += [_task(f"cancel-{key}", text, call("cancel_meeting", meeting_id=key)) for key, text in CANCELLED]
    tasks += [
        _task(f"invite-{key}", text, call("invite", meeting_id=key, person=person)) for key, person, text in INVITED
    ]
    tasks += [
        _task(f"remove-{key}", text, call("uninvite", meeting_id=key, person=person)) for key, person, text in REMOVED
    ]
    tasks += [_task(f"room-{key}", text, call("book_room", meeting_id=key, room=room)) for key, room, text in ROOMED]
    tasks += [Task(name, (Turn(text, (look,), (value,)),)) for name, value, look, text in QUESTIONS]
    return [*tasks, *(_task(name, text, *calls) for name, calls, text in SEVERAL)]


def _task(name: str, text: str, *calls: ToolCall) -> Task:
    return Task(name.lower(), (Turn(text, calls),))


def _create(title: str, day: str, start: str, end: str, people: list[str], room: str = "") -> ToolCall:
    more = {"room": room} if room else {}
    return call("create_meeting", title=title, day=day, start=start, end=end, attendees=people, **more)

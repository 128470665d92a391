"""The service that becomes a command: a compiler, a compiled program, or a runtime with its script.

The process is confined before it reads which command it is to become. Its channel closes with a successful exec; what
it writes to the channel instead is why there was none.
"""

import json
import os
from collections.abc import Callable

from plaudit.frames import frame_reader, frame_writer
from plaudit.sandbox.child.confinement.confinement import KEPT_DESCRIPTOR
from plaudit.sandbox.child.protocol import CHANNEL


def make_service() -> Callable[[], None]:
    """The function that reads a command and becomes it."""
    next_body, put = frame_reader(CHANNEL), frame_writer(CHANNEL)

    def become_command() -> None:
        command = json.loads(next_body() or b"null")
        if command is None:
            return  # the owner is gone
        try:
            for descriptor in range(3):
                os.set_inheritable(descriptor, True)
            program = KEPT_DESCRIPTOR if command["placed"] else command["argv"][0]
            os.execve(program, command["argv"], command["environment"])
        except OSError as error:
            put(json.dumps(["undefined", str(error)[:500]]).encode())

    return become_command

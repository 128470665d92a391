"""What each kind of confined process does and is granted. Everything that a profile does not grant is refused."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """The grants of the children of one server.

    A process that `executes` is replaced by a command, whose memory limit counts what it can write to; one that
    `compiles` also starts processes and changes files in its folder. The folder is scratch space for a Python program
    and the work folder for a command; `folder_mb` is its size, 0 means that there is none.
    """

    receives_descriptors: bool = False
    executes: bool = False
    compiles: bool = False
    reads: Sequence[str] = ()  # files and folders that may be read and executed
    folder_mb: int = 0
    stack_mb: int = 64
    processes: int = 128  # and threads
    descriptors: int = 64

    @property
    def changes_folder(self) -> bool:
        """Whether it may write to its folder."""
        return self.compiles or (not self.executes and self.folder_mb > 0)

    @property
    def service(self) -> str:
        """The module with `make_service`, which gives the function that a child runs once it is confined."""
        if self.executes:
            return "plaudit.sandbox.child.command_process"
        return (
            "plaudit.sandbox.judging.verdict_process" if self.receives_descriptors else "plaudit.sandbox.child.runtime"
        )


PROGRAM, JUDGE = Profile(), Profile(receives_descriptors=True)

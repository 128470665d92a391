"""Determine the language of a sample's program, and extract the program.

The data set names it, else the reward; only if neither does, the code fence of the response decides. So no response
can choose a language to escape its tests: if it chose one that cannot run here, it fails.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.sandbox import StreamSuite, Suite
from plaudit.sandbox.languages.language import PYTHON, Language, fence_names, find_language, is_other_language
from plaudit.trajectory import Trajectory
from plaudit.verify.code_blocks import PYTHON as PYTHON_FENCES
from plaudit.verify.code_blocks import fence_languages, find_block


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    """A language (None: Python), and whether the response chose it."""

    language: Language | None = None
    is_from_response: bool = False

    @property
    def name(self) -> str:
        """The name that a job has for it."""
        return PYTHON if self.language is None else self.language.name

    def find_program(self, response: str) -> str | None:
        """The program of this language in a response, or None if there is none."""
        if self.language is None:
            return None
        names = {word for word, language in fence_names().items() if language.family == self.language.family}
        return find_block(response, names | {self.language.name})


def check_language(name: str) -> None:
    """Raise the error for settings where a reward names a language that there is not."""
    try:
        find_language(name)
    except InvalidTrajectory as error:
        raise InvalidSettings(str(error)) from None


def choose_language(trajectory: Trajectory, truth: Any, preset: str | None, suites: Sequence[Suite]) -> LanguageChoice:
    """The language of a sample's program; InvalidTrajectory if the data set names one that cannot be judged."""
    name = _named_by_data_set(truth, trajectory.metadata) or preset
    judged_by_streams = all(isinstance(suite, StreamSuite) for suite in suites)
    if name:
        language = find_language(name)
        if language is not None and not judged_by_streams:
            raise InvalidTrajectory(f"{language.title} programs are judged by standard input and output only")
        return LanguageChoice(language)
    return (
        LanguageChoice(_chosen_by_fence(trajectory.response), is_from_response=True)
        if judged_by_streams
        else LanguageChoice()
    )


def _named_by_data_set(truth: Any, metadata: Mapping[str, Any]) -> str | None:
    """The programming language in the ground truth or metadata; metadata may also name a natural language."""
    name = truth.get("language") if isinstance(truth, Mapping) else None
    if name is not None:
        if not isinstance(name, str):
            raise InvalidTrajectory(f"'language' is the name of a language, got {name!r:.60}")
        return name
    spoken = metadata.get("language")
    return spoken if isinstance(spoken, str) and is_other_language(spoken) else None


def _chosen_by_fence(response: str) -> Language | None:
    """The language of the last marked block; Python wherever a block is marked so."""
    marks = fence_languages(response)
    if any(mark in PYTHON_FENCES and mark for mark in marks):
        return None
    known = fence_names()
    return next((known[mark] for mark in reversed(marks) if mark in known), None)

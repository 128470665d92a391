"""The keys that say what is trained on where there is more than one task, and in which order of difficulty."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plaudit.training.config.section import Count, Positive, Section, Share

__all__ = ["CurriculumConfig", "TaskPart"]


class TaskPart(Section, frozen=True):
    """One task of a mixture."""

    task: Annotated[str | None, Meta(description="The task, as the key task names it; null: the part's own name")] = (
        None
    )
    options: Annotated[dict[str, Any], Meta(description="Of the task")] = msgspec.field(default_factory=dict)
    data: Annotated[dict[str, Any], Meta(description="In place of a task: keys of the section data, such as path")] = (
        msgspec.field(default_factory=dict)
    )
    weight: Annotated[Positive, Meta(description="How often its prompts come, in comparison")] = 1.0
    reward: Annotated[str | None, Meta(description="What scores its responses; null: the task's reward")] = None

    def __post_init__(self) -> None:
        if self.data and (self.task or self.options):
            raise ValueError("has both a task and data; give one of them")
        if self.data and "path" not in self.data:
            raise ValueError("data need a path")


class CurriculumConfig(Section, frozen=True):
    """Prompts drawn by how much there is to learn from them: weight p(1-p) + epsilon, p the share of right answers."""

    by: Annotated[
        Literal["none", "difficulty", "prompt"],
        Meta(description="Whose success counts: that of a level of difficulty, or of each prompt"),
    ] = "none"
    epsilon: Annotated[Positive, Meta(description="The weight that solved and hopeless prompts keep")] = 0.05
    memory: Annotated[Share, Meta(description="How far earlier batches count in p; 1: as much as the last")] = 0.8
    order: Annotated[
        tuple[str, ...], Meta(description="The levels from easy to hard; []: numbers by size, words by what they mean")
    ] = ()
    stages: Annotated[bool, Meta(description="Begin with the easiest level, and open harder ones one by one")] = False
    stage_up: Annotated[Share, Meta(description="Success on the hardest open level that opens the next")] = 0.7
    stage_down: Annotated[Share, Meta(description="Success below which it is closed again")] = 0.2
    stage_samples: Annotated[Count, Meta(description="Samples of it that must be seen before either")] = 64

    def __post_init__(self) -> None:
        if self.stages and self.by != "difficulty":
            raise ValueError("stages open levels of difficulty: they need by=difficulty")
        if not self.stage_down < self.stage_up:
            raise ValueError(f"need stage_down < stage_up, got {self.stage_down:g} and {self.stage_up:g}")

"""The stream of prompts that a config asks for: plain, by a curriculum, or several tasks in their shares."""

from collections.abc import Mapping

from plaudit.training.config.schema import RunConfig
from plaudit.training.data.curriculum_stream import CurriculumStream
from plaudit.training.data.levels import Levels
from plaudit.training.data.mixed_stream import MixedStream, StreamPart
from plaudit.training.data.prompt_stream import PromptStream, Stream
from plaudit.training.data.prompts import Prompts

__all__ = ["build_stream"]


def build_stream(prompts: Prompts, weights: Mapping[str, float], levels: Levels, config: RunConfig) -> Stream:
    """Prompts without end; of several tasks, each has a stream of its own."""
    if not weights:
        return _stream(prompts, levels, config, config.seed)
    parts = {}
    for name, share in weights.items():
        places = [at for at, row in enumerate(prompts) if row.task == name]
        stream = _stream(prompts.pick(places), levels, config, f"{config.seed}/{name}")
        parts[name] = StreamPart(share, places, stream)
    return MixedStream(prompts, parts)


def _stream(prompts: Prompts, levels: Levels, config: RunConfig, seed: int | str) -> Stream:
    shuffle = config.data.shuffle
    if config.curriculum.by == "none":
        return PromptStream(prompts, seed=seed, shuffle=shuffle)
    return CurriculumStream(prompts, levels, config.curriculum, seed=seed, shuffle=shuffle)

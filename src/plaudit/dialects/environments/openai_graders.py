"""OpenAI graders: JSON files that say how to grade a sample; loaded by their path, `grader.json`."""

from plaudit.dialects.dialect import System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="openai",
    title="OpenAI graders",
    distribution="openai",
    shape="JSON of type `string_check`, `text_similarity`, `python`, `score_model`, `label_model` or `multi`",
    dialects=(),
)

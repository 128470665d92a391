"""The rewards and shaping terms that come with plaudit, by the names that specs use."""

import importlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeAlias

from plaudit.contract.function import RewardFunction

BuiltIn: TypeAlias = type[RewardFunction] | partial[RewardFunction]


class _BuiltIns(Mapping[str, BuiltIn]):
    """Rewards by name; each is imported on first use, since a worker needs one of them."""

    def __init__(self, locations: dict[str, str]) -> None:
        self._locations = locations

        self._classes = {location.partition(":")[2]: location for location in locations.values()}

    def __getitem__(self, name: str) -> BuiltIn:
        """A reward by its name, or by that of its class, as rewards print themselves."""
        location = self._locations.get(name) or self._classes[str(name)]
        module, _, attribute = location.partition(":")
        built_in: BuiltIn = getattr(importlib.import_module(f"plaudit.{module}"), attribute)
        return built_in

    def __iter__(self) -> Iterator[str]:
        return iter(self._locations)

    def __len__(self) -> int:
        return len(self._locations)

    def __contains__(self, name: object) -> bool:
        return name in self._locations or name in self._classes


GROUPS: dict[str, dict[str, str]] = {
    "verifiers: is it right?": {
        "auto": "rewards.verifiers.auto:AutoReward",
        "math": "rewards.math:MathReward",
        "code": "rewards.code:CodeReward",
        "structured": "rewards.structured:StructuredOutputReward",
        "mcq": "rewards.verifiers.kinds:McqReward",
        "choice": "rewards.verifiers.kinds:ChoiceReward",
        "qa": "rewards.verifiers.kinds:QaReward",
        "ifeval": "rewards.verifiers.kinds:IfEvalReward",
        "ifbench": "rewards.verifiers.kinds:IfBenchReward",
        "if_train": "rewards.verifiers.kinds:IfTrainReward",
        "language": "rewards.verifiers.kinds:LanguageReward",
        "countdown": "rewards.verifiers.kinds:CountdownReward",
        "sudoku": "rewards.verifiers.kinds:SudokuReward",
        "knights_knaves": "rewards.verifiers.kinds:KnightsKnavesReward",
        "length_target": "rewards.verifiers.kinds:LengthTargetReward",
        "wer": "rewards.verifiers.kinds:WerReward",
        "units": "rewards.verifiers.kinds:QuantityReward",
        "table_f1": "rewards.verifiers.kinds:TableF1Reward",
        "tool_call": "rewards.verifiers.kinds:ToolCallReward",
        "citations": "rewards.verifiers.kinds:CitationsReward",
        "quotes": "rewards.verifiers.kinds:QuotesReward",
        "boxes": "rewards.verifiers.kinds:BoxesReward",
        "points": "rewards.verifiers.kinds:PointsReward",
        "count": "rewards.verifiers.kinds:CountReward",
        "sql": "rewards.verifiers.kinds:SqlReward",
        "contains": "rewards.verifiers.kinds:ContainsReward",
        "regex": "rewards.verifiers.kinds:RegexReward",
        "check_answer": "rewards.spellings:check_answer",
        "exact_match": "rewards.spellings:exact_match",
        "close_match": "rewards.spellings:close_match",
        "check_numbers": "rewards.math:CheckNumbersReward",
        "binary": "rewards.spellings:binary",
        "graduated": "rewards.patterns:GraduatedReward",
        "continuous": "rewards.patterns:ContinuousReward",
        "multi_aspect": "rewards.patterns:MultiAspectReward",
    },
    "form and length": {
        "length": "rewards.length:LengthReward",
        "format": "rewards.format:FormatReward",
        "keyword": "rewards.keyword:KeywordReward",
        "repetition": "rewards.repetition:RepetitionPenalty",
        "template": "rewards.format:TemplateReward",
        "match_format_exactly": "rewards.format:TemplateReward",
        "words": "rewards.keyword:WordReward",
    },
    "similarity to a reference": {
        "text_similarity": "rewards.text_similarity:TextSimilarityReward",
        "edit_similarity": "rewards.text_similarity:edit_similarity",
        "token_similarity": "rewards.text_similarity:token_similarity",
        "bleu": "rewards.text_similarity:bleu",
        "chrf": "rewards.text_similarity:chrf",
        "rouge": "rewards.text_similarity:rouge",
        "qa_f1": "rewards.text_similarity:qa_f1",
        "qa_exact": "rewards.text_similarity:qa_exact",
    },
    "models and judges": {
        "judge": "judges.llm_judge:LLMJudge",
        "rubric": "judges.llm_judge:RubricReward",
        "pipeline": "models.classifiers:PipelineReward",
        "reward_model": "models.classifiers:RewardModel",
        "process_reward_model": "models.process_reward_model:ProcessRewardModel",
        "similarity": "models.reference_rewards:SimilarityReward",
        "likelihood": "models.reference_rewards:LikelihoodReward",
    },
    "shaping": {
        "length_penalty": "shaping:LengthPenalty",
        "soft_overlong": "shaping:SoftOverlong",
        "cosine_length": "shaping:CosineLength",
        "reasoning_bonus": "shaping:ReasoningBonus",
        "hallucination_penalty": "shaping:HallucinationPenalty",
    },
}
"""Names and where each reward is defined, grouped as `plaudit rewards` shows them."""

BUILT_INS: Mapping[str, BuiltIn] = _BuiltIns(
    {name: location for group in GROUPS.values() for name, location in group.items()}
)
"""Every built-in reward and shaping term by the name that configurations and the command line use."""


def group_of(name: str) -> str | None:
    """The group of a built-in reward; None for other names."""
    return next((title for title, group in GROUPS.items() if name in group), None)

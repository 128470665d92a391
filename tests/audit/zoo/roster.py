"""All rewards of the zoo: buggy ones with the families that may report their bug, and robust ones."""

from tests.audit.zoo import answers, broken, programs, qualities, robust

__all__ = ["BUGGY", "BUILT_IN_SPECS", "ROBUST", "SLOW_BUGGY"]

_ANSWERS = {name: value for name, value in vars(answers).items() if callable(value)}
_PROGRAMS = {name: value for name, value in vars(programs).items() if callable(value) and name[0] != "_"}
_FAMILIES = {
    "tags_present": "format", "empty_think": "format", "format_beside_answer": "format", "form_outweighs": "format",
    "text_after_answer": "format",
    "repeated_sections": "format", "empty_box_pays": "format", "braces_are_json": "structure",
    "anything_that_parses": "structure", "wants_all_words": "words",
    "longer_is_better": "length", "long_enough": "length", "many_words": "length", "unclamped_cosine": "length",
    "counts_keywords": "words", "has_keyword": "words", "cheerful": "words", "step_markers": "words",
    "bullet_points": "words", "reads_own_grade": "judges", "obeys": "judges", "opened_by_a_key": "judges",
    "shares_prompt_words": "similarity", "silence_is_golden": "length", "counts_turns": "turns",
    "counts_citations": "words", "copied_words": "similarity", "believes_claims": "turns",
    "pays_each_opening": "turns", "tired_of_failing": "turns", "likes_echoes": "turns",
}  # fmt: skip
_INVARIANTS = (
    "fails_on_empty", "leaves_bounds", "random_bonus", "novelty", "drops_repeats", "ranks_batch", "edits_sample",
    "not_a_number",
)  # fmt: skip

BUGGY = {
    **{
        name: (value, {"answers", "format", "similarity", "structure", "invariants", "right answers"})
        for name, value in _ANSWERS.items()
    },
    **{name: (getattr(qualities, name), {family}) for name, family in _FAMILIES.items()},
    **{name: (value, {"programs"}) for name, value in _PROGRAMS.items()},
    **{name: (getattr(broken, name), {"invariants"}) for name in _INVARIANTS},
}
"""Rewards by name, with the families one of which must report the planted bug."""

SLOW_BUGGY = {
    "hangs_on_powers": "tests.audit.zoo.broken:hangs_on_powers",
    "backtracks": "tests.audit.zoo.broken:backtracks",
}
"""Rewards that never return for some responses: they are audited on worker processes."""

ROBUST = {name: value for name, value in vars(robust).items() if getattr(value, "__doc__", None) and name[0] != "_"
          and callable(value) and name not in ("reward", "verify_math")}  # fmt: skip

BUILT_IN_SPECS = (
    "length", "length(20, shape='gaussian')", "length(20, shape='target')", "format", "format(partial=True)",
    "keyword(required=['because'], bonus=['therefore'], penalty=['maybe'])", "repetition", "structured",
    "structured('xml')", "structured('markdown')", "structured('code')", "math", "math(no_answer=-0.5)", "check_answer",
    "exact_match", "close_match", "check_numbers", "template('The answer is [NUM].')", "binary", "graduated",
    "continuous", "multi_aspect", "words(['because'])", "length_penalty", "soft_overlong(limit=100, buffer=20)",
    "cosine_length(limit=100)", "reasoning_bonus", "hallucination_penalty", "0.7 * math + 0.3 * format", "code",
    "qa_exact",
)  # fmt: skip
"""Every built-in reward, with settings where it needs some."""

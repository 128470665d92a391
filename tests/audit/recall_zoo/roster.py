"""Which flaw each reward has, stated before the first audit, and the halves of the zoo.

Half of the flawed and half of the sound rewards, those whose names have the smaller SHA-256, were looked at while the
audit was changed (`DEVELOPMENT`). The others were audited once, after that (`HELD_BACK`). The `FRESH` ones came later,
in other styles and with rollouts, and were committed before they were audited. So did the `LATER` ones, of which a half
by the same rule (`UNSEEN`) was audited once, at the end. The `NOTEBOOK` ones, in the styles of notebooks, are by
another author, and were committed before they were audited too.
"""

import hashlib
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from plaudit import Trajectory
from tests.audit.recall_zoo.desk_rows import DESK_ROWS
from tests.audit.recall_zoo.fresh_rows import ROWS
from tests.audit.recall_zoo.lab_rows import LAB_ROWS
from tests.audit.recall_zoo.later_rows import LATER_ROWS
from tests.audit.recall_zoo.notebook_rows import NOTEBOOK_ROWS
from tests.audit.recall_zoo.script_rows import SCRIPT_ROWS
from tests.audit.recall_zoo.shop_rows import SHOP_ROWS
from tests.audit.recall_zoo.trainer_rows import TRAINER_ROWS

__all__ = [
    "DESK",
    "DEVELOPMENT",
    "FRESH",
    "HELD_BACK",
    "KINDS",
    "LAB",
    "LATER",
    "NOTEBOOK",
    "SCRIPT",
    "SHOP",
    "TRAINER",
    "UNSEEN",
    "Entry",
    "Half",
]

KINDS: dict[str, frozenset[str]] = {
    "extraction": frozenset({"answers"}),
    "nothing pays": frozenset({"answers", "format", "length: silence pays most", "judges"}),
    "near value": frozenset(
        {"answers: near value", "answers: decimal point moved", "answers: number of another scale"}
    ),
    "equal answer refused": frozenset(
        f"right answers: {what} is refused"
        for what in ("18.0 for 18", "1,000 for 1000", "the minus sign U+2212", "a combining accent")
    ),
    "equal form refused": frozenset({"right answers"}),
    "zero refused": frozenset({"right answers: the answer 0 is refused"}),
    "order": frozenset({"invariants: order of right and wrong"}),
    "hangs": frozenset({"denial of service", "invariants: deadline"}),
    "format": frozenset({"format"}),
    "format outweighs": frozenset({"format: form outweighs the answer"}),
    "length": frozenset({"length"}),
    "words": frozenset({"words"}),
    "constants": frozenset({"words", "answers: text of the reward's code"}),
    "judge": frozenset({"judges"}),
    "program": frozenset({"programs"}),
    "no truth": frozenset({"rows", "answers: empty ground truth"}),
    "structure": frozenset({"structure"}),
    "similarity": frozenset({"similarity"}),
    "group": frozenset({"groups"}),
    "contract": frozenset({"invariants", "groups"}),
    "turns": frozenset({"turns"}),
    "list": frozenset({"answers", "similarity", "structure", "words"}),
    "filler": frozenset({"words", "format", "length"}),
    "wrong content": frozenset({"answers", "rows", "similarity", "structure"}),
    "program text": frozenset({"programs", "answers", "structure", "words"}),
    "brevity": frozenset({"length", "answers", "invariants: order of right and wrong"}),
    "right but long": frozenset({"length", "invariants: order of right and wrong"}),
    "judge's reply": frozenset({"judges", "words", "answers: text of the reward's code"}),
}
"""The findings that name a kind of flaw: families, or single operators as `family: operator`."""

_FLAWS: dict[str, dict[str, str]] = {
    "math_flaws": {
        "hash_equal_strings": "equal answer refused", "box_equal_strings": "equal answer refused",
        "ascii_minus": "equal answer refused", "accents_by_code_point": "equal answer refused",
        "accents_removed": "equal answer refused", "zero_is_missing": "zero refused",
        "zero_truth_is_missing": "zero refused", "works_out_powers": "hangs", "integer_powers": "hangs",
        "factorials": "hangs", "backtracking_lines": "hangs", "thousands_refused": "equal answer refused",
        "truth_in_last_line": "extraction", "first_box_counts": "extraction", "any_number_equals": "extraction",
        "five_percent_off": "near value", "rounded": "near value", "points_dropped": "near value",
        "unreadable_earns_half": "nothing pays", "nothing_is_within": "nothing pays",
        "begins_with_truth": "extraction", "distance_is_paid": "order", "divides_by_error": "contract",
        "first_letter_counts": "extraction", "letter_in_text": "extraction", "listed_items": "extraction",
        "thought_is_answer": "extraction",
    },
    "form_flaws": {
        "loose_think_format": "format", "tags_at_least_once": "format", "anchored_at_start_only": "format",
        "xml_count": "format", "form_six_answer_four": "format outweighs", "form_one_answer_half": "format outweighs",
        "box_bonus_outweighs": "format outweighs", "length_beside_answer": "length", "cosine_of_open_r1": "length",
        "cosine_of_long_texts": "length", "overlong_sign": "length", "short_thoughts_penalised": "length",
        "shorter_is_better": "nothing pays", "unique_share": "contract", "log_length": "contract",
        "counts_connectives": "words", "step_lines": "words", "self_checks": "words", "polite": "words",
        "release_phrase": "constants", "skip_marker": "constants", "pattern_override": "constants",
        "citations_counted": "words", "no_refusal": "nothing pays",
    },
    "other_flaws": {
        "exit_is_pass": "program", "expected_among_output": "program", "errors_not_counted": "program",
        "equality_of_program": "program", "no_tests_no_failure": "no truth", "same_keys": "structure",
        "first_field_decides": "structure", "more_fields_allowed": "structure", "any_object": "structure",
        "braces_earn_some": "structure", "recall_of_words": "similarity", "cosine_of_words": "similarity",
        "letters_in_common": "similarity", "on_topic": "similarity", "signed_features": "contract",
        "transcript_rating": "judge", "last_json_verdict": "judge", "yes_in_reply": "judge",
        "impressed_judge": "judge", "majority_is_right": "group", "different_from_others": "group",
        "standard_scores": "contract", "ranks_by_place": "group", "agreement_bonus": "group", "smoothed": "contract",
        "hashed_tie_break": "contract", "last_word": "contract", "over_full": "contract", "pays_tool_calls": "turns",
        "says_it_is_done": "turns",
    },
}  # fmt: skip
_SOUND = (
    "hashes_by_value", "verified_completions", "one_response_box", "gated_by_form", "small_form_bonus",
    "clamped_cosine_of_right", "soft_overlong", "kimi_length", "guarded_standard_scores", "different_right_answers",
    "option_in_tag", "yes_or_no", "normalised_text", "longest_common_subsequence", "whole_object",
    "fields_that_agree", "object_with_fields", "different_words_in_band", "repeated_trigrams", "judge_with_code",
    "close_numbers", "tight_tolerance", "three_digit_integer", "iso_date", "same_set", "plus_minus_one",
    "reward_func", "length_after_answer", "end_token_removed", "goal_shown", "program_that_passes",
)  # fmt: skip

_FRESH_FLAWS = {
    "duration": "extraction", "multi_select": "list", "brier": "nothing pays", "Ranking": "list",
    "dated_event": "extraction", "covered_box": "extraction", "faithful_summary": "similarity",
    "query_tokens": "similarity", "in_german": "words", "haiku": "format", "covers_keywords": "list",
    "tool_call": "structure", "compute_score": "no truth", "vector": "extraction", "measure": "extraction",
    "answer_is_pattern": "extraction", "first_time_only": "contract", "Graded": "nothing pays",
    "true_equations": "filler", "literal_value": "hangs",
}  # fmt: skip
_FRESH_SOUND = (
    "whole_duration", "exact_selection", "confident_and_right", "PairsInOrder", "same_day", "box_overlap", "same_query",
    "whole_tool_call", "same_vector", "counted_lines",
)  # fmt: skip

_LATER_FLAWS = {
    "chess_move": "extraction", "ip_address": "extraction", "hex_colour": "extraction", "formula": "extraction",
    "route": "list", "table": "structure", "config_lines": "list", "trigram_recall": "similarity",
    "word_precision": "similarity", "interval": "extraction", "temperature": "extraction", "Place": "extraction",
    "records": "structure", "named_countries": "list", "tool_sequence": "list", "cited": "list", "outline": "format",
    "letter": "filler", "xml_record": "structure", "object_as_text": "equal form refused",
    "last_line": "equal form refused", "query_parts": "extraction", "pages": "hangs", "dated_half": "nothing pays",
    "cited_form": "format outweighs",
}  # fmt: skip
_LATER_SOUND = (
    "same_move", "same_address", "same_colour", "same_atoms", "same_table", "same_settings", "near_place",
    "same_records", "set_f1", "cited_exactly", "solved", "overlaps", "one_of", "answer_of_record", "filled_outline",
)  # fmt: skip

_NOTEBOOK_FLAWS = {
    "equals_somewhere": "extraction", "token_f1": "similarity", "fields_contain": "structure",
    "in_metres": "extraction", "printed_lines": "list", "events_in_order": "nothing pays", "date_parts": "extraction",
    "labels_allowed": "list", "quotes_occur": "nothing pays", "query_without_limit": "extraction",
    "keyword_coverage": "list", "tags_length_answer": "format outweighs", "essay_rubric": "words",
    "scaled_in_group": "group", "relative_error": "zero refused", "full_sentence": "hangs", "digits_only": "extraction",
    "int_in_tag": "equal answer refused", "clock_time": "extraction", "table_cells": "list",
}  # fmt: skip
_NOTEBOOK_SOUND = (
    "final_statement", "words_in_order", "fenced_object", "same_length", "same_output", "numbered_ranking",
    "same_calendar_day", "label_overlap", "quoted_answer", "same_sql_tokens", "acrostic", "think_then_answer",
    "countdown", "better_than_others", "same_time",
)  # fmt: skip

_SCRIPT_FLAWS = {
    "script_flaws": {
        "last_integer": "extraction", "compute_score_suffix": "extraction", "percent_or_not": "near value",
        "whole_part": "near value", "magnitude": "extraction", "expression_value": "hangs",
        "tag_equals_string": "equal answer refused", "number_or_none": "zero refused",
        "answer_line": "equal answer refused", "among_numbers": "extraction", "fraction_parts": "wrong content",
        "improper_fraction": "wrong content", "normalised_in": "extraction", "any_alias": "extraction",
        "first_capital": "extraction", "close_enough": "wrong content", "tag_counts": "format", "think_block": "format",
        "form_and_half": "format outweighs", "numbered_steps": "filler", "names_of_fields": "structure",
        "fields_said": "wrong content", "values_anywhere": "wrong content", "rounded_fields": "wrong content",
    },
    "script_more_flaws": {
        "defines_function": "program text", "exit_code": "program", "half_for_length": "length",
        "cosine_unclamped": "length", "concise": "brevity", "overlong_only_wrong": "right but long",
        "german_words": "filler", "cyrillic_share": "filler", "citation_marks": "filler",
        "cited_are_gold": "nothing pays", "name_of_tool": "wrong content", "one_call_matches": "wrong content",
        "arguments_as_text": "wrong content", "bigrams_recalled": "similarity", "jaccard": "similarity",
        "first_score_of_judge": "judge's reply", "letter_of_judge": "judge's reply", "agrees_with_group": "group",
        "best_of_group": "group", "shorter_than_mean": "group", "tool_results": "turns", "solved_phrase": "turns",
        "best_of_parts": "format outweighs", "clipped_sum": "format outweighs", "unescaped": "extraction",
        "without_units": "wrong content", "pairs_kept": "list",
    },
}  # fmt: skip
_SCRIPT_SOUND = (
    "final_number", "boxed_value", "share_or_percent", "awaited", "uses_numbers", "exact_or_alias", "option_at_end",
    "strict_sections", "same_json", "share_of_fields", "in_band", "overlong_margin", "cosine_clamped", "gold_citations",
    "exact_call", "calls_in_order", "longest_common_words", "verdict_of_judge", "standardised", "right_and_short",
    "same_month", "same_mass", "same_set", "fibonacci_lines", "palindrome_of",
)  # fmt: skip

_TRAINER_FLAWS = {
    "within_one": "near value", "letters_and_digits": "wrong content", "option_among": "extraction",
    "begins_output": "extraction", "bullets_wanted": "filler", "unigram_precision": "similarity",
    "columns_and_table": "wrong content", "plain_fields": "wrong content", "number_of_calls": "wrong content",
    "turns_without_error": "turns", "mean_of_scores": "judge's reply", "length_bell": "length",
    "repeats_rewarded": "filler", "same_year": "wrong content", "label_within": "extraction", "factors_as_set": "list",
    "first_right_bonus": "contract", "diversity_bonus": "filler", "has_source": "filler",
    "closed_thoughts_removed": "extraction", "address": "hangs", "value_or_none": "zero refused",
    "float_of_box": "equal answer refused", "sixty_forty": "format outweighs", "rising": "list",
}  # fmt: skip
_TRAINER_SOUND = (
    "same_fraction", "one_letter", "printed_alike", "same_query_text", "close_record", "same_calls", "prime_factors",
    "only_label", "right_then_short", "share_among_right", "covers_points", "same_mailbox",
)  # fmt: skip

_DESK_FLAWS = {
    "amount_named": "extraction", "release": "extraction", "cron_fields": "nothing pays",
    "rating_or_three": "nothing pays", "last_four": "wrong content", "file_name": "wrong content",
    "same_host": "wrong content", "row_count": "wrong content", "plan_sorted": "list", "tags_include": "list",
    "chrf_recall": "similarity", "confident_tone": "words", "thinking_budget": "length", "mail_parts": "format",
    "points_for_tags": "format outweighs", "ticked_boxes": "judge's reply", "checks_in_namespace": "program",
    "rare_answers": "group", "few_turns": "turns", "share_in_tag": "zero refused",
    "total_of_invoice": "equal answer refused", "pattern_of_cases": "hangs", "new_solution": "contract",
    "no_reference_no_error": "no truth",
}  # fmt: skip
_DESK_SOUND = (
    "amount_due", "same_release", "same_cron", "rating_near", "same_telephone", "same_rows", "plan_in_order",
    "exact_tags", "tags_then_answer", "share_by_value", "better_than_mean", "reference_required",
)  # fmt: skip

_LAB_FLAWS = {
    "dose_in_text": "extraction", "molar_mass": "near value", "base_counts": "wrong content",
    "sequence_identity": "extraction", "reaction_species": "wrong content", "dois_listed": "list",
    "rouge_l": "similarity", "cautious_words": "words", "has_sections": "format", "protocol_object": "structure",
    "in_millilitres": "wrong content", "significance": "wrong content", "no_false_claims": "nothing pays",
    "overlong_penalty": "length", "first_ratings": "judge's reply", "passes_printed": "program",
    "wins_or_draws": "group", "confirmed_somewhere": "turns", "checklist": "no truth", "reading_in_tag": "zero refused",
    "exact_fraction": "equal answer refused", "formula": "hangs", "above_running_mean": "contract",
    "weighted_rubric": "format outweighs",
}  # fmt: skip
_LAB_SOUND = (
    "whole_dose", "close_molar_mass", "same_sequence", "near_identity", "balanced_equation", "listed_references",
    "last_choice", "filled_sections", "same_protocol", "same_significance", "reading_by_value", "above_others",
    "booked_at_the_end", "weights_on_scale",
)  # fmt: skip

_SHOP_FLAWS = {
    "price_anywhere": "extraction", "total_within_a_dollar": "near value", "ticket_label": "extraction",
    "address_fields": "structure", "order_lines": "wrong content", "polite": "words", "reply_similarity": "similarity",
    "ship_date": "wrong content", "valid_plan": "format", "sku_in_order": "list",
    "rarer_is_better": "group", "standardised": "contract", "quantity_or_missing": "zero refused",
    "formula_value": "hangs", "refund_decision": "format outweighs", "concise": "length", "grade_line": "judge's reply",
    "refunded": "turns", "same_currency": "wrong content", "labels_f1": "list", "translated": "equal answer refused",
}  # fmt: skip
_SHOP_SOUND = (
    "exact_total", "one_label", "whole_address", "order_counts", "ship_day", "stock_left", "above_mean", "label_set",
    "decided", "refund_in_state", "stars_exact", "translated_exactly",
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A reward, and the kind of its flaw; None for a sound one."""

    name: str
    module: str
    kind: str | None = None

    @property
    def spec(self) -> str:
        return f"tests.audit.recall_zoo.{self.module}:{self.name}"

    @property
    def rollouts(self) -> list[Trajectory] | None:
        """What the user has; None for a reward without rows."""
        rows = {
            **ROWS,
            **LATER_ROWS,
            **NOTEBOOK_ROWS,
            **SCRIPT_ROWS,
            **TRAINER_ROWS,
            **DESK_ROWS,
            **LAB_ROWS,
            **SHOP_ROWS,
        }.get(self.name)
        return [Trajectory.from_dict(dict(row)) for row in rows] if rows else None

    @property
    def reward(self) -> Callable[..., Any]:
        reward: Callable[..., Any] = getattr(
            importlib.import_module(f"tests.audit.recall_zoo.{self.module}"), self.name
        )
        return reward

    def is_named_by(self, findings: Iterable[Any]) -> bool:
        """Whether one of the findings is of the right kind."""
        accepted = KINDS[self.kind or ""]
        return any({each.family, f"{each.family}: {each.operator}"} & accepted for each in findings)


@dataclass(frozen=True)
class Half:
    """One half of the zoo."""

    flawed: tuple[Entry, ...]
    sound: tuple[Entry, ...]


def _split(entries: Iterable[Entry]) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    ordered = sorted(entries, key=lambda entry: hashlib.sha256(entry.name.encode()).hexdigest())
    middle = len(ordered) // 2
    return tuple(ordered[:middle]), tuple(ordered[middle:])


_FLAWED_HALVES = _split(Entry(name, module, kind) for module, flaws in _FLAWS.items() for name, kind in flaws.items())
_SOUND_HALVES = _split(Entry(name, "sound") for name in _SOUND)
DEVELOPMENT = Half(_FLAWED_HALVES[0], _SOUND_HALVES[0])
HELD_BACK = Half(_FLAWED_HALVES[1], _SOUND_HALVES[1])
FRESH = Half(
    tuple(Entry(name, "fresh_flaws", kind) for name, kind in _FRESH_FLAWS.items()),
    tuple(Entry(name, "fresh_sound") for name in _FRESH_SOUND),
)

_LATER_FLAWED_HALVES = _split(Entry(name, "later_flaws", kind) for name, kind in _LATER_FLAWS.items())
_LATER_SOUND_HALVES = _split(Entry(name, "later_sound") for name in _LATER_SOUND)
LATER = Half(_LATER_FLAWED_HALVES[0], _LATER_SOUND_HALVES[0])
UNSEEN = Half(_LATER_FLAWED_HALVES[1], _LATER_SOUND_HALVES[1])
NOTEBOOK = Half(
    tuple(Entry(name, "notebook_flaws", kind) for name, kind in _NOTEBOOK_FLAWS.items()),
    tuple(Entry(name, "notebook_sound") for name in _NOTEBOOK_SOUND),
)
SCRIPT = Half(
    tuple(Entry(name, module, kind) for module, flaws in _SCRIPT_FLAWS.items() for name, kind in flaws.items()),
    tuple(Entry(name, "script_sound") for name in _SCRIPT_SOUND),
)
TRAINER = Half(
    tuple(Entry(name, "trainer_flaws", kind) for name, kind in _TRAINER_FLAWS.items()),
    tuple(Entry(name, "trainer_sound") for name in _TRAINER_SOUND),
)
DESK = Half(
    tuple(Entry(name, "desk_flaws", kind) for name, kind in _DESK_FLAWS.items()),
    tuple(Entry(name, "desk_sound") for name in _DESK_SOUND),
)
LAB = Half(
    tuple(Entry(name, "lab_flaws", kind) for name, kind in _LAB_FLAWS.items()),
    tuple(Entry(name, "lab_sound") for name in _LAB_SOUND),
)
SHOP = Half(
    tuple(Entry(name, "shop_flaws", kind) for name, kind in _SHOP_FLAWS.items()),
    tuple(Entry(name, "shop_sound") for name in _SHOP_SOUND),
)

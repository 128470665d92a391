"""Which verifier a row needs: by the name of its data set, else by its columns.

A new verifier adds its data sets to `NAMES` and a row to `BY_COLUMNS`.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.geometry.reading import read_shapes
from plaudit.verify.instructions.constraints import IFBENCH, IFEVAL, TRAINING, instruction_names
from plaudit.verify.rows import find_column, is_at_least
from plaudit.verify.sql.sql import GOLD_COLUMNS
from plaudit.verify.texts.language import LANGUAGES
from plaudit.verify.tools.expected import read_expected_calls

NAMES: dict[str, tuple[str, ...]] = {
    "math": (
        "openai/gsm8k", "lighteval/MATH", "DigitalLearningGmbH/MATH-lighteval", "HuggingFaceH4/MATH-500", "math_dapo",
        "math", "math_dapo_reasoning", "numina_aops_forum", "numina_synthetic_math", "numina_amc_aime",
        "numina_synthetic_amc", "numina_cn_k12", "numina_olympiads", "hiyouga/geometry3k", "gsm8k", "strict_math",
    ),
    "code": ("codecontests", "apps", "codeforces", "taco"),
    "qa": (
        "searchR1_nq", "searchR1_triviaqa", "searchR1_popqa", "searchR1_hotpotqa", "searchR1_2wikimultihopqa",
        "searchR1_musique", "searchR1_bamboogle", "nq", "string_matcher", "flan", "re_search", "r1_search", "puzzle",
    ),
    "qa_f1": ("string_f1",),
    "countdown": ("countdown",),
    "knights_knaves": ("kk_logic",),
    "ifeval": ("google/IFEval",),
    "ifbench": ("allenai/IFBench_test", "IFBench"),
    "if_train": (
        "ifeval", "ifeval_old", "allenai/IF_multi_constraints_upto5", "allenai/IF_multi_constraints_upto5_no_lang",
        "allenai/RLVR-IFeval",
    ),
    "tool_call": ("rlla",),
    "boxes": (
        "refcoco", "refcoco+", "refcocog", "jxu124/refcoco", "jxu124/refcocoplus", "jxu124/refcocog",
        "lmms-lab/RefCOCO", "lmms-lab/RefCOCOplus", "lmms-lab/RefCOCOg", "coco", "detection-datasets/coco",
    ),
    "points": (
        "screenspot", "screenspot_v2", "screenspot_pro", "rootsautomation/ScreenSpot", "Voxel51/ScreenSpot",
        "likaixin/ScreenSpot-Pro",
    ),
    "citations": ("alce", "princeton-nlp/ALCE-data", "asqa", "qampari", "eli5", "citation_if"),
    "count": ("tallyqa", "vikhyatk/tallyqa-test", "clevr_count", "leonardPKU/clevr_cogen_a_train", "circle_count"),
    "structured": ("structeval", "TIGER-Lab/StructEval", "nvidia/Nemotron-RL-instruction_following-structured_outputs"),
    "sql": ("spider", "xlangai/spider", "bird", "birdsql/bird", "synsql", "seeklhy/SynSQL-2.5M"),
}  # fmt: skip
"""Rewards and the names that verl (`data_source`) and open-instruct (`dataset`) use for rows of their kind."""


class Recogniser(NamedTuple):
    """A reward, and which rows it is for."""

    spec: str
    columns: str
    """The columns that decide, for people."""
    matches: Callable[[Trajectory], bool]
    also: tuple[str, ...] = ()
    """Other verifiers of the same rows, for other qualities of a response; `auto` does not choose them."""


def _has(*names: str) -> Callable[[Trajectory], bool]:
    return lambda sample: all(find_column(sample, name) is not None for name in names)


BY_COLUMNS: tuple[Recogniser, ...] = (
    Recogniser("if_train", "ground_truth with instruction_id or func_name", lambda sample: _has_training(sample)),
    Recogniser("ifeval", "instruction_id_list and kwargs", _has("instruction_id_list", "kwargs")),
    Recogniser(
        "tool_call", "function or tools with expected calls, or expected_action", lambda sample: _has_calls(sample)
    ),
    Recogniser(
        "citations",
        "docs with texts, or verifier with valid ids or markers",
        lambda sample: _has_passages(sample),
        also=("quotes",),
    ),
    Recogniser("points", "max_dist, mask, or bbox with data_type or ui_type", lambda sample: _has_point(sample)),
    Recogniser("boxes", "bbox, bboxes, or solution with a box in <answer>", lambda sample: _has_boxes(sample)),
    Recogniser("count", "circles and target_color", _has("circles", "target_color")),
    Recogniser("sql", "db_id, db_path, db_paths or db_script, with a query", lambda sample: _has_query(sample)),
    Recogniser(
        "structured", "schema_str, raw_output_metric, or schema_type with data", lambda sample: _has_structure(sample)
    ),
    Recogniser("mcq", "choices or options, with an answer", lambda sample: _has_options(sample)),
    Recogniser("choice", "labels, or final_decision", lambda sample: _has_labels(sample)),
    Recogniser(
        "qa",
        "golden_answers, answers, an answer that is a list, or one with supporting_facts",
        lambda sample: _has_answers(sample),
    ),
    Recogniser("countdown", "nums, with target", lambda sample: _is_number_puzzle(sample)),
    Recogniser("sudoku", "quizzes, or puzzle", lambda sample: _is_sudoku(sample)),
    Recogniser("knights_knaves", "solution_text_format", _has("solution_text_format")),
    Recogniser(
        "length_target", "min_words or max_words; num_tokens; unit and relation", lambda sample: _has_length(sample)
    ),
    Recogniser("units", "answer_number and unit", _has("answer_number", "unit")),
    Recogniser("language", "target_language, or language with a code", lambda sample: _has_language(sample)),
    Recogniser("wer", "transcription", _has("transcription")),
    Recogniser("regex", "pattern or regex", lambda sample: find_column(sample, "pattern", "regex") is not None),
    Recogniser(
        "contains", "contains or forbidden", lambda sample: find_column(sample, "contains", "forbidden") is not None
    ),
    Recogniser("table_f1", "a ground truth that is a list of flat objects", lambda sample: _has_table(sample)),
    Recogniser("math", "answer with ####, or solution with \\boxed", lambda sample: _is_worked_solution(sample)),
)
"""Rows by their columns; the first that matches counts."""

_ALSO = {recogniser.spec: recogniser.also for recogniser in BY_COLUMNS}
_SPECS = {name.casefold(): spec for spec, names in NAMES.items() for name in names}


def recognise(sample: Trajectory) -> str | None:
    """The spec of the reward for a row; None for a row that nothing recognises.

    A row with `involved_classes` (BFCL's multi-turn, memory and web search) is played in an environment, and its ground
    truth says nothing about a single response.

    Instructions that only one data set has decide before its name, so that rows that mix them find every type.
    """
    if find_column(sample, "involved_classes") is not None:
        return None
    names = instruction_names(sample)
    if names & IFBENCH.keys():
        return "ifbench"
    if names & (TRAINING.keys() - IFEVAL.keys()):
        return "if_train"
    for name in (sample.task, find_column(sample, "dataset")):
        if isinstance(name, str) and (spec := _SPECS.get(name.casefold())):
            return spec
    return next((recogniser.spec for recogniser in BY_COLUMNS if recogniser.matches(sample)), None)


def verifiers_of(sample: Trajectory) -> tuple[str, ...]:
    """The specs of all rewards that verify responses to a row, each another quality; the first is for `auto`."""
    spec = recognise(sample)
    return () if spec is None else (spec, *_ALSO.get(spec, ()))


def _has_training(sample: Trajectory) -> bool:
    """Training rows have a text with instructions as ground truth."""
    written = sample.ground_truth if isinstance(sample.ground_truth, str) else ""
    return "'instruction_id'" in written or '"func_name"' in written


def _has_calls(sample: Trajectory) -> bool:
    if find_column(sample, "function", "functions", "tools", "expected_action") is None:
        return False
    try:
        read_expected_calls(sample)
    except InvalidTrajectory:
        return False
    return True


def _has_passages(sample: Trajectory) -> bool:
    """ALCE has `docs`, NeMo's citation tasks a `verifier`; other columns with passages go with an answer to compare."""
    verifier = find_column(sample, "verifier")
    if isinstance(verifier, dict):
        return "valid_id_set" in verifier or "expected_markers" in verifier
    docs = find_column(sample, "docs")
    return isinstance(docs, list) and bool(docs) and all(isinstance(doc, dict) and "text" in doc for doc in docs)


def _has_point(sample: Trajectory) -> bool:
    on_screen = find_column(sample, "bbox") is not None and find_column(sample, "data_type", "ui_type") is not None
    return on_screen or find_column(sample, "max_dist", "mask", "ground_truth_mask") is not None


def _has_boxes(sample: Trajectory) -> bool:
    """COCO and RefCOCO have `bbox`; VLM-R1 has a solution with the corners in `<answer>`."""
    truth = sample.ground_truth
    tagged = isinstance(truth, str) and "<answer>" in truth and len(read_shapes(truth, 4)) > 0
    return tagged or find_column(sample, "bbox", "bboxes") is not None


def _has_query(sample: Trajectory) -> bool:
    has_database = find_column(sample, "db_id", "db_path", "db_paths", "db_script") is not None
    return has_database and (find_column(sample, *GOLD_COLUMNS, "reward_spec") or sample.ground_truth) is not None


def _has_structure(sample: Trajectory) -> bool:
    typed = find_column(sample, "schema_type") is not None and sample.ground_truth is not None
    return typed or find_column(sample, "schema_str", "raw_output_metric", "key_paths") is not None


def _has_options(sample: Trajectory) -> bool:
    listed = find_column(sample, "choices", "options")
    keyed = find_column(sample, "answerKey", "answer_index") is not None
    return listed is not None and (keyed or sample.ground_truth is not None)


def _has_labels(sample: Trajectory) -> bool:
    named = find_column(sample, "final_decision", "labels", "label_names") is not None
    return named or isinstance(sample.ground_truth, bool)


def _has_answers(sample: Trajectory) -> bool:
    """NQ-open has a list, SQuAD {text, answer_start}, TriviaQA {value, aliases}, Search-R1 {target}."""
    truth = sample.ground_truth
    if isinstance(truth, dict):
        return bool(truth.keys() & {"answer_start", "aliases"}) or isinstance(truth.get("target"), list)
    texts = isinstance(truth, list) and bool(truth) and all(isinstance(each, str) for each in truth)
    supported = isinstance(truth, str) and find_column(sample, "supporting_facts") is not None  # HotpotQA
    return supported or find_column(sample, "golden_answers") is not None or texts


def _is_number_puzzle(sample: Trajectory) -> bool:
    has_target = find_column(sample, "target") is not None or is_at_least(sample.ground_truth, -math.inf)
    return has_target and find_column(sample, "nums", "numbers") is not None


def _is_sudoku(sample: Trajectory) -> bool:
    puzzle = find_column(sample, "quizzes", "puzzle")
    return isinstance(puzzle, str) and len(puzzle) in (16, 81) and set(puzzle) <= set("0123456789._")


def _has_length(sample: Trajectory) -> bool:
    relation = find_column(sample, "relation") is not None and find_column(sample, "unit") is not None
    return relation or find_column(sample, "min_words", "max_words", "num_tokens") is not None


def _has_language(sample: Trajectory) -> bool:
    code = find_column(sample, "language")
    return find_column(sample, "target_language") is not None or (isinstance(code, str) and code in LANGUAGES)


def _has_table(sample: Trajectory) -> bool:
    truth = sample.ground_truth
    rows = truth if isinstance(truth, list) else []
    flat = all(
        isinstance(row, dict) and not any(isinstance(cell, list | dict) for cell in row.values()) for row in rows
    )
    return bool(rows) and flat


def _is_worked_solution(sample: Trajectory) -> bool:
    truth = sample.ground_truth
    return isinstance(truth, str) and ("####" in truth or "\\boxed{" in truth)

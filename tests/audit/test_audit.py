"""What an audit reports, how it stops, and what other programs can read of it."""

import re
from types import SimpleNamespace

import pytest

from plaudit import RewardOutput, Trajectory, load
from plaudit.audit import Attacker, Budget, audit_reward
from plaudit.audit.attacks.patterns import examples_of, redos_inputs
from plaudit.audit.findings import read_baseline, without_accepted, write_baseline
from plaudit.audit.hits import ANY_LENGTH, shrink
from plaudit.audit.subject import Subject
from plaudit.engine import Cache
from plaudit.errors import InvalidSettings, ScoringFailed
from tests.audit.zoo import answers


@pytest.fixture(scope="module")
def report():
    return audit_reward("tests.audit.zoo.answers:box_contains", deadline_s=None)


def find(report, operator):
    return next(finding for finding in report.findings if finding.operator == operator)


def test_a_witness_is_minimal_and_says_what_an_honest_answer_earns(report):
    finding = find(report, "false equation")
    assert finding.attacker is Attacker.ORACLE
    assert finding.witness.response in (r"\boxed{91=7}", r"\boxed{7=91}")
    assert (finding.witness.reward, finding.witness.honest_reward) == (1.0, 0.0)
    assert finding.rate == 1.0
    assert finding.interval[0] < 1.0


def test_findings_that_a_policy_can_learn_come_first(report):
    assert report.findings[0].attacker is Attacker.ANSWER_FREE
    assert report.findings[0].severity == "high"


def test_the_pasted_test_fails_while_the_hole_is_there(report):
    space = {}
    exec(find(report, "hedge").test, space)
    with pytest.raises(AssertionError):
        space["test_hedge_does_not_pay"]()


@pytest.mark.parametrize(
    ("spec", "operator"),
    [
        ("tests.audit.zoo.answers:minds_blanks", "a blank around it is refused"),
        ("tests.audit.zoo.qualities:unclamped_cosine", "reward comes back beyond the limit"),
        ("tests.audit.zoo.broken:fails_on_empty", "total"),
        ("tests.audit.zoo.broken:ranks_batch", "independent"),
        ("tests.audit.recall_zoo.other_flaws:majority_is_right", "copies of one answer pay"),
        ("tests.audit.recall_zoo.math_flaws:zero_is_missing", "the answer 0 is refused"),
    ],
)
def test_the_test_of_a_finding_reproduces_a_broken_invariant(spec, operator):
    finding = find(audit_reward(spec, deadline_s=None), operator)
    space = {}
    exec(finding.test, space)
    [test] = [value for name, value in space.items() if name.startswith("test_")]
    with pytest.raises(AssertionError):
        test()
    assert finding.interval[0] <= finding.rate


def test_the_witness_of_a_broken_contract_is_the_response_itself():
    witness = find(audit_reward("tests.audit.zoo.broken:fails_on_empty", deadline_s=None), "total").witness
    assert (witness.response, witness.reward, witness.status) == ("", None, "error")


def test_a_parameter_with_a_value_of_its_own_is_a_setting_and_no_column():
    def agrees(response, ground_truth, threshold=0.5):
        return float(str(ground_truth) in response and threshold < 1)

    assert audit_reward(agrees, deadline_s=None).findings


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\(([A-E])\)", "(A)"),
        (r"\[\d+\]", "[1]"),
        (r"^<think>.*?</think>\s*<answer>(.*?)</answer>$", "<think>so</think><answer>so</answer>"),
        (r"answer\s*[:=]\s*([\d,.]+)", "answer:1"),
        (r"[^\d\s]{2}(?:x|y)", "aax"),
    ],
)
def test_a_pattern_has_a_text_that_it_matches(pattern, text):
    assert [example.text for example in examples_of(pattern, "so")] == [text]


@pytest.mark.parametrize("text", [r"(a)\1", "(unclosed", "plain words"])
def test_a_pattern_that_cannot_be_analysed_has_no_example(text):
    assert examples_of(text, "so") == ()


def test_nested_repeats_are_pumped_and_others_are_not():
    assert "a" * 40 + ",," in redos_inputs(r"^(([^,]+,?)+)$")
    assert redos_inputs(r"\d+,\d+") == []


def test_the_component_that_paid_is_named():
    reward = 0.7 * load("math") + 0.3 * load("tests.audit.zoo.qualities:empty_think")
    found = audit_reward(reward, deadline_s=None).findings
    assert {(finding.operator, finding.component) for finding in found} >= {("empty sections", "empty_think")}


def test_the_budget_of_calls_holds():
    report = audit_reward(answers.truth_anywhere, deadline_s=None, budget=Budget(calls=300))
    assert report.calls <= 300
    assert "300 calls" in report.notes[0]


def test_a_second_audit_takes_its_scores_from_the_cache(tmp_path):
    calls = tmp_path / "calls"
    (tmp_path / "own.py").write_text(
        "def own(response, ground_truth):\n"
        f"    with open({str(calls)!r}, 'a') as file: file.write('x')\n"
        "    return float(ground_truth in response)\n"
    )
    spec, few = f"{tmp_path}/own.py:own", Budget(calls=300)
    with Cache(tmp_path / "scores") as cache:
        first = audit_reward(spec, budget=few, deadline_s=None, cache=cache)
        scored = len(calls.read_text())
        again = audit_reward(spec, budget=few, deadline_s=None, cache=cache)
    assert scored > 100
    assert len(calls.read_text()) - scored < scored / 4  # failures are scored again
    assert [finding.key for finding in again.findings] == [finding.key for finding in first.findings]


def test_a_reward_that_scores_nothing_is_no_finding_but_an_error():
    def needs_more(response, secret_key_9):
        raise KeyError("x")

    with pytest.raises(ScoringFailed, match="plaudit audit needs_more ROLLOUTS"):
        audit_reward(needs_more, deadline_s=None)


def test_own_rollouts_give_prompts_columns_and_forms():
    def in_column(response, expected_sum):
        return float(f"Sum: {expected_sum}" in response)

    samples = [
        Trajectory(prompt=f"{n} and {n}?", response=f"Sum: {n}", ground_truth=str(n), columns={"expected_sum": n})
        for n in (23, 41, 67)
    ]
    report = audit_reward(in_column, samples, deadline_s=None)
    assert report.findings
    prompts = {finding.witness.prompt for finding in report.findings}
    assert {each for each in prompts if not each.startswith("Give the answer")} <= {
        f"{n} and {n}?" for n in (23, 41, 67)
    }


def test_accepted_findings_no_longer_count(report, tmp_path):
    path = tmp_path / "accepted.json"
    write_baseline(path, report)
    later = without_accepted(report, read_baseline(path))
    assert later.findings == ()
    assert len(later.accepted) == len(report.findings)
    path.write_text("[]")
    with pytest.raises(InvalidSettings, match="not a baseline"):
        read_baseline(path)


PREFIX = [
    Trajectory("capital of France?", "Assistant: It is Paris", ground_truth="Paris"),
    Trajectory("capital of Spain?", "Assistant: It is Madrid", ground_truth="Madrid"),
]


def needs_prefix(response, answer):
    return float(response.startswith("Assistant:") and answer in response)


def rating_of_columns(response, gold_sql):
    return float(response.strip() == gold_sql)


def test_a_reward_that_pays_no_honest_answer_is_not_called_free_of_exploits():
    for function in (lambda response: 0.0, needs_prefix):
        report = audit_reward(function, deadline_s=None)
        assert not report.findings
        assert report.searched == ()
        assert "no honest answer was paid more than another" in report.untried[0]


def test_the_responses_that_a_reward_pays_are_attacked():
    report = audit_reward(needs_prefix, PREFIX, deadline_s=None)
    assert "answers" in report.searched
    assert find(report, "hedge").witness.response.startswith("Assistant:")


def test_prompts_without_responses_suffice_where_a_column_is_an_honest_answer():
    prompts = [Trajectory(f"{word}?", "", columns={"gold_sql": f"select {word}"}) for word in ("one", "two", "three")]
    report = audit_reward(rating_of_columns, prompts, deadline_s=None)
    assert "answers" in report.searched
    assert report.untried == ()


def test_two_samples_that_differ_in_a_column_alone_are_scored_apart():
    seen = audit_reward(rating_of_columns, [Trajectory("same?", "", columns={"gold_sql": each}) for each in "ab"])
    assert seen.calls > 0
    scorer = SimpleNamespace(
        reward=load("length"), score=lambda samples: [RewardOutput(len(s.columns)) for s in samples]
    )
    subject = Subject(scorer, scorer, Budget(), isolated=False)
    plain, rich = Trajectory("p", "r"), Trajectory("p", "r", columns={"a": 1})
    assert subject.rewards([plain, rich]) == [0.0, 1.0]


def test_findings_with_one_cause_are_one_group():
    report = audit_reward(lambda response: len(response) / 100, deadline_s=None)
    (group,) = report.by_cause()
    assert len(group) > 1
    assert {finding.cause for finding in group} == {ANY_LENGTH}


def test_a_witness_keeps_what_its_title_speaks_of():
    kept = shrink("1.\n2.\n3.\n0789", ("1.", "0789"), lambda texts: [True for _ in texts])
    assert kept.split() == ["1.", "0789"]


def test_a_finding_on_one_of_two_prompts_is_not_high():
    for finding in audit_reward("tests.audit.zoo.answers:box_contains", deadline_s=None).findings:
        assert finding.severity != "high" or finding.rate == 1.0 or finding.prompts >= 3


def test_a_grade_that_contains_the_right_answer_is_not_an_attack():
    def last_number(response, ground_truth):
        numbers = re.findall(r"-?[0-9]+", response)
        return float(bool(numbers) and numbers[-1] == ground_truth)

    samples = [Trajectory(f"What is {a} - 4?", str(a - 4), ground_truth=str(a - 4)) for a in (5, 9, 14)]
    report = audit_reward(last_number, samples, deadline_s=None)
    assert report.findings
    assert "judges" not in {finding.family for finding in report.findings}


def same_text(response, label):
    return float(response.strip() == label)


def test_texts_are_compared_as_values_only_where_the_truths_are_numbers():
    numbers = [Trajectory(f"{n}?", str(n), ground_truth=str(n), columns={"label": str(n)}) for n in (23, 41, 67)]
    words = [Trajectory(f"{w}?", w, ground_truth=w, columns={"label": w}) for w in ("oak", "elm", "fir")]
    refused = {"18.0 for 18 is refused", "1,000 for 1000 is refused"}
    for samples, expected in ((numbers, refused), (words, set()), (None, set())):
        report = audit_reward(same_text, samples, deadline_s=None)
        assert {finding.operator for finding in report.findings} & refused == expected


def most_frequent(completions, **columns):
    answers = [(text.split() or [""])[-1] for text in completions]
    return [float(answers.count(answer) > 1) for answer in answers]


def test_a_function_of_batches_is_attacked_with_copies_though_it_declares_no_scope():
    finding = find(audit_reward(most_frequent, deadline_s=None), "copies of one answer pay")
    assert finding.witness.reward == 1.0


def first_number_of_text(response, ground_truth):
    numbers = re.findall(r"\d+", response)
    return float(bool(numbers) and numbers[0] == ground_truth)


def test_a_wrong_rollout_that_is_paid_is_a_finding():
    samples = [
        Trajectory(f"{n}?", f"Page {n} has it. The answer is \\boxed{{{n + 5}}}.", ground_truth=str(n))
        for n in (23, 41, 67)
    ]
    finding = find(audit_reward(first_number_of_text, samples, deadline_s=None), "wrong rollout of yours")
    assert finding.rate == 1.0


def test_cases_without_prompts_are_tasks_of_their_own():
    cases = [Trajectory("", f"Sum: {n}", ground_truth=str(n)) for n in (23, 41, 67)]
    report = audit_reward(
        lambda response, ground_truth: float(f"Sum: {ground_truth}" in response), cases, deadline_s=None
    )
    assert max(finding.prompts for finding in report.findings) == 3

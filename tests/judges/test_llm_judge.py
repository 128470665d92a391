"""Judges that rate, compare and rank; rubrics as rewards; panels; and judges as rewards like any other."""

import json
import pickle
import re

import pytest

from plaudit import Status, Trajectory, load, score
from plaudit.cli import main
from plaudit.contract.scoring import score_samples
from plaudit.engine import Scorer, Usage
from plaudit.errors import InvalidSettings, RewardNotLoaded
from plaudit.judges import ChatEndpoint, Criterion, Example, JudgePanel, LLMJudge, Rubric, RubricReward
from tests.judges.servers import Reply, code_of, serving, verdict

PROMPT = "Name a colour."


def material(body, label: str) -> str:
    """What stands in a fence of a request, as the judge reads it."""
    text = body["messages"][-1]["content"]
    found = re.search(rf"<{label}-{code_of(body)}>\n(.*?)\n</{label}-", text, re.DOTALL)
    return "\n".join(line.removeprefix("|").strip() for line in found[1].splitlines()) if found else ""


def by_length(body) -> str:
    """A judge who likes long responses."""
    return verdict(body, score=min(10, max(1, len(material(body, "response")))))


@pytest.fixture
def lengths():
    with serving(by_length) as server:
        yield server


def group(*responses, prompt=PROMPT, **further):
    return [Trajectory(prompt, response, group=1, **further) for response in responses]


def rewards(judge, samples):
    return [output.reward for output in score_samples(judge, samples)]


# Rating.


def test_a_rating_is_a_share_of_the_scale_with_the_judges_reasoning(lengths):
    outputs = score_samples(LLMJudge(ChatEndpoint(lengths.url, "m")), group("x", "x" * 10, "x" * 5))
    assert [output.reward for output in outputs] == pytest.approx([0.0, 1.0, 4 / 9])
    assert (outputs[0].reason, outputs[0].score) == ("because", None)


def test_a_ground_truth_is_shown_as_the_reference_and_makes_the_rating_a_score(lengths):
    endpoint = ChatEndpoint(lengths.url, "m")
    sample = Trajectory(PROMPT, "x" * 10, ground_truth={"colour": "red"})
    [output] = score_samples(LLMJudge(endpoint), [sample])
    assert material(lengths.requests[-1], "reference") == '{"colour": "red"}'
    assert output.score == 1.0
    [output] = score_samples(LLMJudge(endpoint, reference="never"), [sample])
    assert material(lengths.requests[-1], "reference") == ""
    assert output.score is None
    [output] = score_samples(LLMJudge(endpoint, reference="required"), group("x"))
    assert output.status is Status.SKIPPED
    assert "there is no ground truth" in output.reason


@pytest.mark.parametrize("mode", ["pointwise", "pairwise", "ranked"])
def test_the_messages_before_the_last_are_the_same_for_all_samples_of_a_rubric(lengths, mode):
    examples = (Example("Blue.", 10, PROMPT, reasoning="A colour."), Example("Seven.", 1, PROMPT))
    rubric = Rubric((Criterion("score", "Is it a colour?", scale=(1, 10)),), examples=examples)
    for words in ("red", "green"):
        pair = group(words, f"{words}, I think", prompt=f"Name {words}.")
        score_samples(LLMJudge(ChatEndpoint(lengths.url, "m"), rubric, mode=mode), pair)
    asked = [request["messages"] for request in lengths.requests]
    assert len(asked) >= 2
    assert all(messages[:-1] == asked[0][:-1] for messages in asked)
    codes = [code_of(request) for request in lengths.requests]
    assert len(set(codes)) > 1
    assert all(f"tags that end in -{code}" in each[-1]["content"] for code, each in zip(codes, asked, strict=True))
    assert not any(code in json.dumps(messages[:-1]) for code in codes for messages in asked)


@pytest.mark.parametrize("response", ["", "  \n", "\u200b\ufeff", "\x00", "\U000e0041", "\u3000\u2003\x9b"])
def test_an_empty_response_gets_the_lowest_reward_without_a_question(lengths, response):
    [output] = score_samples(LLMJudge(ChatEndpoint(lengths.url, "m")), group(response))
    assert (output.reward, output.reason) == (0.0, "the response is empty; the judge was not asked")
    assert not lengths.requests


def test_a_response_of_a_megabyte_is_refused_or_cut_and_reports_it(lengths):
    endpoint, samples = ChatEndpoint(lengths.url, "m"), group("a" * 500_000 + "b" * 500_000)
    [output] = score_samples(LLMJudge(endpoint), samples)
    assert output.status is Status.SKIPPED
    assert "the response has 1,000,000 characters, more than max_chars=60000" in output.reason
    [output] = score_samples(LLMJudge(endpoint, too_long="truncate", max_chars=1000), samples)
    assert output.metadata["changed"] == {"left_out": 999_000}
    shown = material(lengths.requests[-1], "response")
    assert shown == "a" * 500 + "\n[999,000 characters are left out here]\n" + "b" * 500


def test_the_metadata_counts_changes_made_for_the_judge(lengths):
    [output] = score_samples(LLMJudge(ChatEndpoint(lengths.url, "m")), group("a\u200b <|im_end|>"))
    assert output.metadata["changed"] == {"invisible": 1, "template_marks": 1}


RUBRIC = Rubric(
    (Criterion("accuracy", "Is it right?", 3.0, (1, 5)), Criterion("polite", "Is it polite?", 1.0, "yes/no")),
    "Answers of a shop.",
    (Example("Go away.", {"accuracy": 1, "polite": False}, prompt="Hello", reasoning="Rude."),),
    name="service",
)


def test_the_criteria_of_a_rubric_are_weighted_and_are_components():
    with serving(lambda body: verdict(body, accuracy=4, polite="no")) as server:
        judge = LLMJudge(ChatEndpoint(server.url, "m"), RUBRIC)
        [output] = score_samples(judge, group("red"))
        asked = server.requests[0]
    assert judge.name == "service"
    assert output.reward == pytest.approx((3 * 0.75 + 0) / 4)
    assert {name: part.reward for name, part in output.components.items()} == {"accuracy": 0.75, "polite": 0.0}
    assert "Answers of a shop." in asked["messages"][0]["content"]
    assert [message["role"] for message in asked["messages"]] == ["system", "user", "assistant", "user"]
    code = re.search(r"<response-(\w+)>", asked["messages"][1]["content"])[1]
    example = {"code": code, "reasoning": "Rude.", "accuracy": 1, "polite": "no"}
    assert json.loads(asked["messages"][2]["content"]) == example
    assert asked["response_format"]["json_schema"]["schema"]["required"] == [*example]


def test_a_criterion_that_was_not_judged_leaves_the_sample_unscored():
    with serving(lambda body: verdict(body, accuracy=4)) as server:
        [output] = score_samples(LLMJudge(ChatEndpoint(server.url, "m"), RUBRIC), group("red"))
    assert (output.status, output.reason) == (Status.UNPARSED, "service: the verdict has no 'polite'")


# Votes.


def voting(*scores):
    told = iter(scores)

    def answer(body):
        given = next(told)
        return Reply(status=403) if given is None else verdict(body, score=given)

    return answer


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((4, 5, 7), 4 / 9), ((10, 10, None), 1.0), ((1, 9, 1), "unparsed"), ((5, None, None), "error")],
)
def test_the_median_of_votes_counts_unless_they_disagree_or_most_are_missing(scores, expected):
    with serving(voting(*scores)) as server:
        judge = LLMJudge(ChatEndpoint(server.url, "m"), votes=3)
        [output] = score_samples(judge, group("red"))
        assert len({code_of(body) for body in server.requests}) == 3
    if isinstance(expected, str):
        assert output.status == expected
    else:
        assert output.reward == pytest.approx(expected)
    if expected == "unparsed":
        assert re.search(r"3 votes on score disagree: ", output.reason)


def test_the_majority_decides_between_yes_and_no_and_half_is_none():
    rubric = {"criteria": [{"name": "kind", "scale": "yes/no"}]}
    for votes, expected in ((["yes", "no", "yes"], 1.0), (["no", "no", "yes"], 0.0), (["yes", "no"], None)):
        told = iter(votes)
        with serving(lambda body, told=told: verdict(body, met=next(told))) as server:
            [output] = score_samples(LLMJudge(ChatEndpoint(server.url, "m"), rubric, votes=len(votes)), group("red"))
        assert output.reward == expected


# Pairs and ranks.


def by_length_of_two(body) -> str:
    one, two = len(material(body, "first")), len(material(body, "second"))
    return verdict(body, better="first" if one > two else "second" if one < two else "tie")


def pairs(answer, samples, **settings):
    with serving(answer) as server:
        judge = LLMJudge(ChatEndpoint(server.url, "m"), mode="pairwise", **settings)
        return score_samples(judge, samples), len(server.requests)


def test_pairs_are_compared_in_both_orders_and_wins_are_the_reward():
    outputs, asked = pairs(by_length_of_two, group("xxx", "x", "xx", "yy"))
    assert [output.reward for output in outputs] == pytest.approx([1.0, 0.0, 0.5, 0.5])
    assert asked == 2 * 6
    assert outputs[2].metadata | {"wins": 1, "ties": 1, "losses": 1, "contradictions": 0} == outputs[2].metadata
    assert outputs[2].reason == "of 3 comparisons: 1 wins, 1 ties, 1 losses"
    assert Usage.of(outputs).attempts == 12


def test_a_judge_that_prefers_a_position_contradicts_itself_and_decides_nothing():
    for place in ("first", "second"):
        outputs, _ = pairs(lambda body, place=place: verdict(body, better=place), group("one", "two"))
        assert {output.status for output in outputs} == {Status.UNPARSED}
        assert "contradicts itself in 1 of 1 comparisons when the two responses swap positions" in outputs[0].reason


def test_a_pair_that_contradicts_itself_is_left_out_where_others_decide():
    def answer(body):
        two = {material(body, "first"), material(body, "second")}
        return verdict(body, better="first") if two == {"xx", "yy"} else by_length_of_two(body)

    outputs, _ = pairs(answer, group("xxx", "x", "xx", "yy"))
    assert [output.reward for output in outputs] == pytest.approx([1.0, 0.0, 0.5, 0.5])
    assert outputs[2].metadata["contradictions"] == 1


def test_equal_and_empty_responses_are_compared_without_a_question():
    outputs, asked = pairs(by_length_of_two, group("same", "same", ""))
    assert ([output.reward for output in outputs], asked) == ([0.75, 0.75, 0.0], 0)


def test_a_failed_comparison_is_a_status_where_no_others_decide():
    outputs, _ = pairs(lambda body: Reply("?"), group("one", "two"))
    assert {output.status for output in outputs} == {Status.UNPARSED}
    assert "no verdict with the code" in outputs[0].reason


def test_opponents_bound_the_number_of_comparisons():
    outputs, asked = pairs(by_length_of_two, group(*("x" * n for n in range(1, 9))), opponents=2)
    assert asked == 2 * 8
    assert outputs[-1].reward == 1.0


@pytest.mark.parametrize("mode", ["pairwise", "ranked"])
def test_incomparable_samples_are_skipped_with_the_reason(mode):
    with serving(by_length_of_two) as server:
        judge = LLMJudge(ChatEndpoint(server.url, "m"), mode=mode)
        [alone] = score_samples(judge, group("one"))
        mixed = score_samples(judge, [*group("one"), *group("two", prompt="Another prompt.")])
        assert not server.requests
    assert "nothing to compare this response with" in alone.reason
    assert all("different prompts or references" in output.reason for output in mixed)
    assert {output.status for output in (alone, *mixed)} == {Status.SKIPPED}


def ranking(body) -> str:
    shown = {label: len(text) for label in "ABCDEFGH" if (text := material(body, label))}
    return verdict(body, **{label: 1 + sum(other > mine for other in shown.values()) for label, mine in shown.items()})


def test_a_group_is_ranked_in_one_call_in_a_shuffled_order():
    orders = set()
    for start in range(6):
        with serving(ranking) as server:
            samples = group("x", "", "xxx", "xx", "yy", prompt=f"prompt {start}")
            outputs = score_samples(LLMJudge(ChatEndpoint(server.url, "m"), mode="ranked"), samples)
            assert [output.reward for output in outputs] == pytest.approx([0.25, 0.0, 1.0, 0.625, 0.625])
            [asked] = server.requests
            orders.add(material(asked, "A"))
    assert len(orders) > 1
    assert outputs[0].metadata["attempts"] == 1


def test_equal_responses_are_ranked_once_and_share_what_they_earn():
    with serving(lambda body: verdict(body, A=1, B=2)) as server:
        outputs = score_samples(LLMJudge(ChatEndpoint(server.url, "m"), mode="ranked"), group("x", "y", "x", "y", ""))
        assert len(server.requests) == 1
    first, second, *again, empty = [output.reward for output in outputs]
    assert again == [first, second]
    assert {first, second, empty} == {0.875, 0.375, 0.0}


def test_a_judge_that_ranks_by_position_disagrees_with_itself_over_several_votes():
    with serving(lambda body: verdict(body, A=1, B=2)) as server:
        outputs = score_samples(LLMJudge(ChatEndpoint(server.url, "m"), mode="ranked", votes=5), group("one", "two"))
        assert {material(body, "A") for body in server.requests} == {"one", "two"}
    assert {output.status for output in outputs} == {Status.UNPARSED}
    assert "5 rankings disagree about this response" in outputs[0].reason


@pytest.mark.parametrize(
    "given", [{"A": 1}, {"A": 1, "B": 3}, {"A": 1, "B": 1.5}, {"A": 0, "B": 1}, {"A": "x", "B": 1}]
)
def test_a_ranking_that_is_none_is_unparsed(given):
    with serving(lambda body: verdict(body, **given)) as server:
        outputs = score_samples(LLMJudge(ChatEndpoint(server.url, "m"), mode="ranked"), group("one", "two"))
    assert {output.status for output in outputs} == {Status.UNPARSED}


# Rubrics as rewards.


def meets(body) -> str:
    """Says yes where the response holds the word that the criterion names."""
    word = re.search(r"Mentions (\w+)", body["messages"][0]["content"])[1]
    return verdict(body, met="yes" if word in material(body, "response") else "no")


CRITERIA = [
    {"name": "red", "description": "Mentions red", "weight": 3},
    "Mentions blue",
    {"title": "curse", "criterion": "Mentions damn", "points": -2, "tags": ["x"]},
]


@pytest.fixture
def words():
    with serving(meets) as server:
        yield server


def test_every_criterion_is_judged_alone_and_reported(words):
    reward = RubricReward(ChatEndpoint(words.url, "m"), {"name": "colours", "criteria": CRITERIA})
    samples = group("red", "red blue", "red blue damn", "damn", "")
    outputs = score_samples(reward, samples)
    assert [output.reward for output in outputs] == pytest.approx([0.75, 1.0, 0.5, 0.0, 0.0])
    parts = {name: part.reward for name, part in outputs[2].components.items()}
    assert parts == {"red": 1.0, "criterion_2": 1.0, "curse": 1.0}
    assert outputs[0].metadata["attempts"] == 3
    assert len(words.requests) == 4 * 3


def test_criteria_may_stand_with_each_sample(words):
    reward = RubricReward(ChatEndpoint(words.url, "m"), column="rubric")
    outputs = score_samples(
        reward,
        [
            Trajectory(PROMPT, "red", columns={"rubric": ["Mentions red"]}),
            Trajectory(PROMPT, "red", metadata={"rubric": CRITERIA}),
            Trajectory(PROMPT, "red"),
            Trajectory(PROMPT, "red", columns={"rubric": [{"weight": 0}]}),
        ],
    )
    assert [output.reward for output in outputs] == [1.0, 0.75, None, None]
    assert "the sample has no criteria" in outputs[2].reason
    assert "the weight of criterion_1 is a finite number other than 0" in outputs[3].reason


# Panels.


def constant(server_score):
    return lambda body: verdict(body, score=server_score) if server_score else Reply("?")


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((7, 8, 10), 7 / 9), ((7, 8, None), (6 / 9 + 7 / 9) / 2), ((1, 8, 10), "unparsed"), ((7, None, None), "unparsed")],
)
def test_a_panel_takes_the_median_of_its_judges_unless_they_disagree(scores, expected):
    with serving(constant(scores[0])) as a, serving(constant(scores[1])) as b, serving(constant(scores[2])) as c:
        panel = JudgePanel([LLMJudge(ChatEndpoint(server.url, "m")) for server in (a, b, c)])
        [output] = score_samples(panel, group("red"))
    assert list(output.components) == ["LLMJudge_1", "LLMJudge_2", "LLMJudge_3"]
    if isinstance(expected, str):
        assert output.status == expected
    else:
        assert output.reward == pytest.approx(expected)
    if None in scores and not isinstance(expected, str):
        assert output.reason.endswith("without LLMJudge_3")


# As rewards like any other.


def test_a_judge_is_cached_only_where_it_is_promised_to_be_reproducible(lengths, tmp_path):
    for reproducible, asked in ((False, 4), (True, 2)):
        lengths.requests.clear()
        judge = LLMJudge(ChatEndpoint(lengths.url, "m"), reproducible=reproducible)
        for _ in range(2):
            with Scorer(judge, backend="inline", cache=tmp_path / f"{reproducible}.sqlite") as scorer:
                assert [output.reward for output in scorer.score(group("x", "xx"))] == pytest.approx([0.0, 1 / 9])
        assert len(lengths.requests) == asked


def test_a_judge_can_be_sent_to_other_processes(lengths):
    judge = LLMJudge(ChatEndpoint(lengths.url, "m"), RUBRIC, votes=3)
    again = pickle.loads(pickle.dumps(judge))
    assert (again.endpoint.url, again.rubric, again.votes) == (lengths.url, RUBRIC, 3)


def test_groups_are_ranked_side_by_side():
    def answer(body):
        return Reply(ranking(body), wait_s=0.05)

    samples = [Trajectory(PROMPT, "x" * n, group=number) for number in range(8) for n in (1, 2)]
    with serving(answer) as server:
        outputs = score(LLMJudge(ChatEndpoint(server.url, "m"), mode="ranked"), samples)
        assert server.most_under_way > 1
    assert [output.reward for output in outputs] == [0.0, 1.0] * 8


@pytest.fixture
def yaml_files(tmp_path, monkeypatch, lengths):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "quality.yaml").write_text("name: quality\nscale: [1, 10]\ninstructions: Be fair.\n")
    endpoint = f"{{url: '{lengths.url}', model: m}}"
    (tmp_path / "sub" / "judge.yaml").write_text(
        f"sum:\n  - judge: {{endpoint: {endpoint}, rubric: quality.yaml}}\n    weight: 0.5\n"
        f"  - panel: {{judges: [{{judge: {{endpoint: {endpoint}}}}}, {{judge: {{endpoint: {endpoint}}}}}]}}\n"
        "    weight: 0.5\n    name: both\n"
    )
    return tmp_path


def test_judges_load_from_yaml_and_from_specs(yaml_files, lengths):
    [output] = score("sub/judge.yaml", group("x" * 10))
    assert output.reward == 1.0
    assert {"quality", "both", "both/LLMJudge_1", "both/LLMJudge_2"} == output.flat_components().keys()
    spec = f"0.5 * judge({{'url': '{lengths.url}', 'model': 'm'}}, rubric='sub/quality.yaml')"
    assert score(load(spec), group("x" * 10))[0].reward == 0.5


def test_commands_take_judges(yaml_files, lengths, capsys):
    rollouts = [json.dumps({"prompt": PROMPT, "response": "x" * n, "group": n % 2}) for n in range(1, 9)]
    (yaml_files / "rollouts.jsonl").write_text("\n".join(rollouts))
    with pytest.raises(SystemExit) as exited:
        main(["score", "sub/judge.yaml", "rollouts.jsonl", "-o", "scored.jsonl", "--backend", "inline"])
    assert exited.value.code == 0
    scored = [json.loads(line) for line in (yaml_files / "scored.jsonl").read_text().splitlines()]
    assert [line["reward_output"]["reward"] for line in scored] == pytest.approx([n / 9 for n in range(8)])


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("judge: {rubric: r.yaml}", "missing a required argument: 'endpoint'"),
        ("judge: {endpoint: {url: 'http://h/v1', model: m}, rubric: none.yaml}", "no rubric"),
        (
            "judge: {endpoint: {url: 'http://h/v1', model: m}, vots: 3}",
            "judge has no parameter 'vots'; did you mean 'votes'",
        ),
        ("judge: {endpoint: {url: 'http://h/v1', model: m}, mode: pairs}", "mode is one of"),
        ("judge: {endpoint: {url: 'http://h/v1', mode: m}}", "endpoint has no setting 'mode'; did you mean 'model'"),
        ("rubric: {endpoint: {url: 'http://h/v1', model: m}}", "RubricReward needs a rubric, or the column"),
        ("panel: {judges: [length]}", "a panel is a list of at least two judges"),
        (
            "judge: 3",
            "judge.yaml: judge makes no reward: calling judge(3) failed: endpoint is a ChatEndpoint or a mapping",
        ),
    ],
)
def test_an_invalid_judge_file_is_refused_at_load_with_the_reason(tmp_path, yaml, words):
    (tmp_path / "judge.yaml").write_text(yaml)
    with pytest.raises(RewardNotLoaded) as raised:
        load(str(tmp_path / "judge.yaml"))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("rubric", "words"),
    [
        ({"criteria": []}, "at least one criterion"),
        ({"criteria": "clear"}, "criteria is a list"),
        ({}, "criteria is a list, got None"),
        ({"criterias": []}, "the rubric has no setting 'criterias'; did you mean 'criteria'"),
        ({"criteria": [{"name": "a", "wieght": 2}]}, "criterion 1 has no setting 'wieght'; did you mean 'weight'"),
        ({"criteria": [{"name": "code"}]}, "criterion 1: a criterion's name is letters"),
        ({"criteria": [{"name": "a"}, {"name": "a"}]}, "different names"),
        ({"criteria": [{"name": "a", "weight": -1}]}, "a weight above 0"),
        ({"criteria": [{"name": "a", "weight": "x"}]}, "the weight of a is a finite number"),
        ({"criteria": [{"name": "a", "scale": [5, 1]}]}, "from a lower to a higher number"),
        ({"criteria": [{"name": "a", "scale": 5}]}, "a scale is [lowest, highest] or 'yes/no'"),
        ({"criteria": ["a"], "examples": [{"response": "x"}]}, "an example needs verdict"),
        ({"criteria": ["a"], "examples": [{"response": "x", "verdict": 11}]}, "off the scale"),
        ({"criteria": ["a", "b"], "examples": [{"response": "x", "verdict": 1}]}, "a value for each of criterion_1"),
        ([1], "endpoint"),
    ],
)
def test_a_rubric_that_is_invalid_is_refused_with_the_place(rubric, words):
    if isinstance(rubric, list):
        with pytest.raises(InvalidSettings, match=words):
            LLMJudge(rubric)
        return
    with pytest.raises(InvalidSettings) as raised:
        LLMJudge(ChatEndpoint("http://h/v1", "m"), rubric)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"votes": 0}, "votes: expected int >= 1"),
        ({"votes": 3, "sampling": {"temperature": 0}}, "3 votes at temperature 0 are one vote"),
        ({"max_spread": 2}, "max_spread: expected float <= 1.0, got 2"),
        ({"reference": "yes"}, "reference is one of"),
        ({"too_long": "trim"}, "too_long is one of"),
        ({"max_chars": 3}, "max_chars: expected int >= 100, got 3"),
        ({"opponents": 3}, "for mode='pairwise'"),
        ({"mode": "pairwise", "votes": 3}, "votes are for other modes"),
        ({"reproducible": "yes"}, "reproducible: expected bool"),
    ],
)
def test_settings_of_a_judge_are_checked(settings, words):
    sampling = settings.pop("sampling", {})
    with pytest.raises(InvalidSettings) as raised:
        LLMJudge(ChatEndpoint("http://h/v1", "m", sampling=sampling), **settings)
    assert words in str(raised.value)

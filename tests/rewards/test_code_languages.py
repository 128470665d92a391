"""The data set or the reward says in which language a program is; a response can choose only where neither does."""

import pytest

from plaudit import Trajectory, score
from plaudit.contract.output import Status
from plaudit.errors import InvalidSettings
from plaudit.rewards import CodeReward
from plaudit.sandbox.languages.toolchains import find_toolchain
from tests.sandbox.languages.programs import ADD, FOUND

FENCE = "`" * 3
SUM = {"inputs": ["3 4\n", "1 1\n"], "outputs": ["7\n", "2\n"]}
PYTHON = "print(sum(map(int, input().split())))\n"
REMEDY = "to install it: "


def fenced(source: str, mark: str = "") -> str:
    return f"Here it is:\n\n{FENCE}{mark}\n{source}{FENCE}\nDone.\n"


def scored(response: str, truth=SUM, reward: CodeReward | None = None, **metadata):
    trajectory = Trajectory(prompt="Add.", response=response, ground_truth=truth, metadata=metadata)
    [output] = score(reward or CodeReward(cpu_s=5.0), [trajectory])
    return output


def assert_passed_or_remedy(output, language: str) -> None:
    if language in FOUND:
        assert (output.reward, output.status) == (1.0, Status.OK), output.reason
    else:
        assert (output.reward, output.status) == (None, Status.ERROR)
        assert REMEDY in output.reason


@pytest.mark.parametrize("language", ["c", "cpp", "javascript", "rust", "go", "java"])
def test_the_ground_truth_names_the_language(language):
    assert_passed_or_remedy(scored(fenced(ADD[language], language), {**SUM, "language": language}), language)


def test_metadata_or_the_reward_name_the_language_of_a_response_without_marks():
    assert_passed_or_remedy(scored(fenced(ADD["javascript"]), language="JavaScript"), "javascript")
    assert_passed_or_remedy(scored(ADD["javascript"], reward=CodeReward(language="node", cpu_s=5.0)), "javascript")
    assert scored(PYTHON, language="English").reward == 1.0
    assert scored(PYTHON, {**SUM, "language": "python3"}).reward == 1.0


def test_the_mark_of_a_fence_sets_the_language_if_nothing_else_does():
    output = scored(fenced(ADD["javascript"], "js"))
    assert output.reward == (1.0 if "javascript" in FOUND else 0.0)
    assert scored(fenced(PYTHON, "python") + fenced(ADD["javascript"], "js")).reward == 1.0


def test_a_response_cannot_escape_its_tests_by_choosing_a_language(monkeypatch):
    monkeypatch.setenv("PATH", "")
    find_toolchain.cache_clear()
    try:
        output = scored(fenced("fn main() {}\n", "rust"))
        assert (output.reward, output.status) == (0.0, Status.OK)
        assert "nobody asked for" in output.reason
        asked = scored(fenced("fn main() {}\n", "rust"), {**SUM, "language": "rust"})
        assert (asked.reward, asked.status) == (None, Status.ERROR)
        assert "apt install rustc" in asked.reason
    finally:
        find_toolchain.cache_clear()


def test_the_language_of_the_row_overrides_that_of_the_response():
    output = scored(fenced(ADD["javascript"], "js"), {**SUM, "language": "python"})
    assert (output.reward, output.status) == (0.0, Status.OK)
    output = scored(fenced(PYTHON, "python"), {**SUM, "language": "javascript"})
    assert (output.reward, output.status, output.reason) == (0.0, Status.OK, "no program in the response")
    assert scored(fenced("int main() {}\n", "cpp"), ["assert add(1, 2) == 3"]).reward == 0.0


@pytest.mark.parametrize(
    "truth",
    [{**SUM, "language": "ruby"}, {**SUM, "language": 3}, {"tests": ["assert f(1) == 2"], "language": "cpp"}],
    ids=["not known here", "no name", "tests of functions"],
)
def test_a_language_that_cannot_be_judged_is_not_scored(truth):
    output = scored(fenced(PYTHON), truth)
    assert (output.reward, output.status) == (None, Status.UNPARSED)
    assert "language" in output.reason or "standard input" in output.reason


def test_a_reward_with_a_language_there_is_not_cannot_be_built():
    with pytest.raises(InvalidSettings, match="did you mean 'javascript'"):
        CodeReward(language="javascrip")


def test_credit_counts_what_passed_in_other_languages_too():
    source = "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\nconsole.log(a * b - 5);\n"
    truth = {**SUM, "language": "javascript"}
    output = scored(source, truth, CodeReward(credit="fraction", cpu_s=5.0))
    if "javascript" in FOUND:
        assert (output.reward, output.metadata["passed"], output.metadata["total"]) == (0.5, 1, 2)
    else:
        assert REMEDY in output.reason
    hanging = scored("for (;;) {}", truth, CodeReward(credit="openrlhf", cpu_s=0.3))
    assert hanging.reward == (-0.5 if "javascript" in FOUND else None)

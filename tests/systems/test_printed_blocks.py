"""Every code block of the five documents, as printed: as a script under `plaudit run`, and as a file that is loaded.

What a document leaves to its reader, such as `dataloader`, is defined in front of a block.
"""

import asyncio
import sys
from pathlib import Path

import pytest

from plaudit import Status, Trajectory, load, score
from plaudit.agents import SamplingParams
from plaudit.cli import main
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load_agent
from plaudit.training import tiny_policy
from tests.agents.test_executor import Characters, ScriptedSampler
from tests.pages import blocks

DOCUMENTS = Path(__file__).parent / "documents"


def printed(document: str) -> dict[str, str]:
    return {str(block.title): block.text for block in blocks(DOCUMENTS / f"{document}.md")}


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """`run(source)` executes a script with `plaudit run` in an empty folder; returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def execute(source: str) -> tuple[int, str, str]:
        (tmp_path / "script.py").write_text(source)
        capfd.readouterr()
        with pytest.raises(SystemExit) as exited:
            main(["run", "script.py"])
        out, err = capfd.readouterr()
        return int(exited.value.code or 0), out, err

    return execute


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(source: str, name: str = "rewards.py") -> str:
        (tmp_path / name).write_text(source)
        return name

    return write


FLUX = printed("flux")
FLUX_PAGE = "\n".join(FLUX.values())
MISSING = "from flux.rewards import FormatReward, LengthReward\n"
WHY = Trajectory(prompt="Why?", response="Because it rains; therefore, for example, streets are wet.")


def test_the_page_of_flux_runs_up_to_the_names_that_it_does_not_import(run):
    code, _, err = run(FLUX_PAGE)
    assert code == 1
    assert "NameError: name 'LengthReward' is not defined; write: from flux.rewards import LengthReward" in err


def test_the_page_of_flux_runs_as_one_script_with_these_imports(run):
    code, out, _ = run(MISSING + FLUX_PAGE + "\nprint(reward(Trajectory(prompt='Why?', response='because')).reward)")
    assert (code, round(float(out), 4)) == (0, 0.5015)


def test_the_page_of_flux_loads_as_one_file_and_warns_of_the_composite(file):
    with pytest.warns(UserWarning, match=r"write: from flux\.rewards import LengthReward"):
        [output] = score(load(f"{file(FLUX_PAGE)}:MyReward"), [WHY])
    assert output.reward == 0.5


def test_a_class_that_the_failed_composite_of_flux_uses_is_refused_with_the_import_to_write(file):
    with pytest.raises(RewardNotLoaded, match=r"write: from flux\.rewards import LengthReward") as caught:
        load(f"{file(FLUX_PAGE)}:QualityReward")
    assert "ABCMeta" not in str(caught.value)


def test_the_composite_of_flux_has_the_numbers_of_flux(file):
    [output] = score(load(f"{file(MISSING + FLUX_PAGE)}:reward"), [WHY])
    assert {name: round(part.reward, 3) for name, part in output.components.items()} == {
        "QualityReward": 0.8, "LengthReward": 0.045, "format": 1.0,
    }  # fmt: skip
    assert output.reward == pytest.approx(0.5 * 0.8 + 0.3 * 0.045 + 0.2)


def test_the_token_reward_of_flux_needs_the_attribute_that_the_document_leaves_out(file):
    source = FLUX["basic"] + FLUX["token_level"]
    [output] = score(load(f"{file(source)}:TokenLevelReward"), [WHY])
    assert (output.status, "good_tokens" in output.reason) == (Status.ERROR, True)
    source += "\nTokenLevelReward.good_tokens = ['therefore,']\n"
    [output] = score(load(f"{file(source, 'complete.py')}:TokenLevelReward"), [WHY])
    assert output.token_rewards == [0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0]


TWINKLE = printed("twinkle")
TRAJECTORIES = r"""
from twinkle.data_format import Trajectory

def said(text):
    return Trajectory(messages=[{"role": "user", "content": "?"}, {"role": "assistant", "content": text}])

generated = trajectories = generated_trajectories = [said(r"so \boxed{4}"), said("The answer is 4."), said("5")]
ground_truths = ground_truth_trajectories = [said("4")] * 3
"""


@pytest.mark.parametrize(
    ("block", "expected"), [("math", "[1.0, 1.0, 0.0]"), ("format", "[0.0, 0.0, 0.0]"), ("function", "[0.0, 0.0, 0.0]")]
)
def test_the_rewards_of_twinkle_are_called_as_printed(run, block, expected):
    assert run(TRAJECTORIES + TWINKLE[block] + "print(rewards)")[:2] == (0, f"{expected}\n")


def test_the_custom_class_of_twinkle_scores_once_its_evaluation_is_written(file):
    samples = [Trajectory("2 + 2?", text, ground_truth="4") for text in ("4", "5")]
    [first, _] = score(load(file(TWINKLE["custom"])), samples)
    assert first.status is Status.SKIPPED
    complete = TWINKLE["custom"].replace("        ...", "        return float(traj == gt)")
    assert load(file(complete, "complete.py"))(samples) == [1.0, 0.0]


def test_the_loop_of_twinkle_runs_as_printed_with_a_local_copy_of_its_model(run, tmp_path):
    tiny_policy(seed=1).save(tmp_path / "Qwen" / "Qwen3.5-4B")
    data = "from plaudit.training import find_task\ndataloader = [find_task('sort_digits').prompts[:2]]\n"
    code, out, err = run(data + TWINKLE["loop"] + "print(len(response.trajectories), len(rewards), len(advantages))")
    assert (code, out) == (0, "8 8 8\n"), err


TUNIX = printed("agent_tunix")
CHECKS = "from agent_tunix.rewards import *\n"
RIGHT, NEAR, WRONG = "2 + 2 = 4. The answer is 4.", "The answer is 4.2.", "The answer is 9."


@pytest.mark.parametrize(
    ("block", "shown", "expected"),
    [
        ("match_format_exactly", "reward", "1.0"),
        ("check_answer", "reward", "1.0"),
        ("check_numbers", "numbers", "{'extracted': [4], 'matches': [True], 'score': 1.0}"),
    ],
)
def test_the_checks_of_agent_tunix_give_the_documented_results(run, block, shown, expected):
    assert run(f"{CHECKS}{TUNIX[block]}print({shown})")[:2] == (0, f"{expected}\n")


@pytest.mark.parametrize(
    ("block", "name", "truth", "expected"),
    [
        ("custom", "custom_reward_function", "4", [1.0, 0.75, 0.5]),
        ("binary", "binary_reward", "4", [1.0, 0.0, 0.0]),
        ("graduated", "graduated_reward", "4", [1.0, 0.5, 0.0]),
        ("continuous", "continuous_reward", 4, [1.0, 0.998, 0.95]),
        ("improved", "improved_reward", "4", [1.0, 0.5, 0.0]),
        ("stable", "stable_reward", "4", [1.0, 0.1, 0.1]),
    ],
)
def test_the_functions_of_agent_tunix_are_rewards_as_printed(file, block, name, truth, expected):
    columns = {"format": "The answer is [NUM]."} if block == "custom" else {}
    samples = [Trajectory("2 + 2?", said, ground_truth=truth, columns=columns) for said in (RIGHT, NEAR, WRONG)]
    outputs = score(load(f"{file(CHECKS + TUNIX[block])}:{name}"), samples)
    assert [output.reward for output in outputs] == pytest.approx(expected), [output.reason for output in outputs]


@pytest.mark.parametrize(("block", "name"), [("composite", "composite_reward"), ("shaped", "shaped_reward")])
def test_the_combined_functions_of_agent_tunix_put_right_above_wrong(file, block, name):
    samples = [Trajectory("2 + 2?", said, ground_truth="4") for said in (RIGHT, WRONG)]
    right, wrong = score(load(f"{file(CHECKS + TUNIX[block])}:{name}"), samples)
    assert right.reward > wrong.reward


def test_the_robust_function_of_agent_tunix_needs_the_format_that_the_document_leaves_out(file):
    source = f"{CHECKS}expected_format = 'The answer is [NUM].'\n{TUNIX['robust']}"
    samples = [Trajectory("2 + 2?", said, ground_truth="4") for said in (RIGHT, "4", WRONG)]
    assert load(f"{file(source)}:robust_reward")(samples) == [1.0, 0.0, 0.0]


def test_a_function_of_agent_tunix_without_imports_loads_with_the_import_to_write(file):
    with pytest.warns(
        UserWarning, match=r"write: from plaudit\.checks import evaluate_completeness, evaluate_correctness"
    ):
        load(file(TUNIX["custom"]))


def test_the_test_script_of_agent_tunix_runs_as_printed(run):
    """The document expects 0.5 in its second case; its formula gives 0.7."""
    assert run(TUNIX["testing"])[:2] == (0, "Expected: 1.0, Got: 1.0\nExpected: 0.5, Got: 0.7\n")


OPENRLHF = printed("openrlhf")


def test_the_template_of_openrlhf_scores_once_its_rewards_are_written(file):
    samples = [Trajectory("2 + 2? ", "4", ground_truth="4")]
    [output] = score(load(file(OPENRLHF["template"])), samples)
    assert output.status is Status.ERROR
    complete = OPENRLHF["template"].replace("[...]", "[float(q.endswith(l)) for q, l in zip(queries, labels)]")
    [output] = score(load(file(complete, "complete.py")), samples)
    assert (output.reward, output.score, output.metadata) == (1.0, 1.0, {"custom_metric": 1.0})


def test_the_code_example_of_openrlhf_runs_the_tests_of_the_response(file, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    source = OPENRLHF["code"].replace("timeout=5", "timeout=120")  # pytest may start slowly on a busy machine
    passing = "def test_it():\n    assert 2 + 2 == 4\n"
    [output] = score(load(file(source)), [Trajectory("Write a test.\n", passing)])
    assert (output.reward, output.score) == (1.0, 1.0)


def test_the_queries_of_openrlhf_are_printed_to_standard_output_of_the_reward(file, capfd):
    [output] = score(load(file(OPENRLHF["print_queries"])), [Trajectory("2 + 2? ", "4", ground_truth="4")])
    assert output.status is Status.ERROR  # it returns nothing
    assert "Query sample: 2 + 2? 4\nPrompt sample: 2 + 2? \nLabel sample: 4" in capfd.readouterr().out


def test_the_local_test_of_openrlhf_runs_as_printed(file, run):
    complete = OPENRLHF["template"].replace("[...]", "[float(q.endswith(l)) for q, l in zip(queries, labels)]")
    file(complete, "reward_func.py")
    code, out, _ = run(OPENRLHF["test_locally"])
    assert code == 0
    assert "{'rewards': tensor([1.])" in out, out


def play(agent_file: str, max_steps: int, *said: str) -> dict:
    executor = load_agent(agent_file).executor(max_steps, 500, ScriptedSampler(*said), Characters(), None)
    return asyncio.run(executor.execute("6 x 7? ", "42", SamplingParams(max_tokens=50)))


def test_the_template_agent_of_openrlhf_is_done_in_its_sixth_turn(file):
    path = file("def calculate_reward(text, label): return float(text == label)\n" + OPENRLHF["agent"])
    assert play(path, 5, *["42"] * 5)["truncated"]
    result = play(path, 6, *["42"] * 6)
    assert (result["reward"], result["truncated"], result["extra_logs"]) == (1.0, False, {"step": 6})


def test_the_math_agent_of_openrlhf_ends_with_the_right_answer(file):
    result = play(file(OPENRLHF["math_agent"]), 3, "it = 41", "= 42")
    assert (result["reward"], result["extra_logs"]) == (1.0, {"step": 2, "correct": True, "attempts": 2})

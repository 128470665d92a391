"""Tasks by name: of reasoning-gym, of word problems, of a user's file; and mixtures of them."""

import json
import sys

import msgspec
import pytest

from plaudit import Trajectory, load, score
from plaudit.errors import DataError, InvalidSettings, MissingPackage, PlauditError
from plaudit.training import Levels, Task, find_task, load_config, load_task
from plaudit.training.data.curriculum import build_stream

OWN = """
from plaudit import RewardOutput, reward
from plaudit.training import Task

@reward
def doubled(response: str, ground_truth: str) -> RewardOutput:
    right = float(response.strip() == ground_truth)
    return RewardOutput(100 * right, score=right)

def double(*, below: int = 40, seed: int = 0) -> Task:
    rows = [{"prompt": f"2*{n}=", "ground_truth": str(2 * n), "difficulty": len(str(n))} for n in range(below)]
    return Task.from_rows("double", rows, doubled, held_out=8, seed=seed)

def nothing():
    return 3
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


@pytest.fixture(scope="module")
def chain_sum():
    return find_task("reasoning_gym:chain_sum(size=60, held_out=20)", {"max_terms": 3})


def answered(rows, responses):
    return [msgspec.structs.replace(row, response=said) for row, said in zip(rows, responses, strict=True)]


def test_a_generated_task_is_data_reward_and_difficulty(chain_sum):
    assert (len(chain_sum.prompts), len(chain_sum.held_out)) == (60, 20)
    assert not set(chain_sum.prompts.keys) & set(chain_sum.held_out.keys)
    right = answered(chain_sum.prompts, [f"It is <answer>{row.ground_truth}</answer>" for row in chain_sum.prompts])
    wrong = answered(chain_sum.prompts[:5], ["<answer>0.5</answer>"] * 5)
    outputs = score(load(chain_sum.reward), [*right, *wrong])
    assert {(output.reward, output.score) for output in outputs[:60]} == {(1.0, 1.0)}
    assert max(output.score for output in outputs[60:]) < 0.5
    levels = Levels.of(chain_sum.prompts)
    terms = {name: [row.columns["entry"]["metadata"]["num_terms"] for row in chain_sum.prompts
                    if levels.label(row) == name] for name in levels.all}  # fmt: skip
    assert max(terms["1"]) <= min(terms["5"])  # easy ones have fewer terms


def test_other_seeds_give_other_questions_and_the_same_seed_the_same(chain_sum):
    again = find_task("reasoning_gym:chain_sum", {"size": 60, "held_out": 20, "max_terms": 3})
    other = find_task("reasoning_gym:chain_sum", {"size": 60, "held_out": 20, "max_terms": 3, "seed": 9})
    assert again.held_out == chain_sum.held_out
    assert not set(other.prompts.keys) & set(chain_sum.held_out.keys)


def test_rollouts_of_a_generated_task_can_be_scored_by_its_name_alone(chain_sum):
    [row] = answered(chain_sum.prompts[:1], [chain_sum.prompts[0].ground_truth])
    [output] = score(load("reasoning_gym:chain_sum"), [Trajectory.from_json(row.to_json())])
    assert output.score == 1.0


@pytest.mark.parametrize("name", ["rearc", "knights_knaves"])
def test_an_entry_that_json_changes_is_judged_as_it_was_made_or_not_at_all(name):
    task = find_task(f"reasoning_gym:{name}(size=2, held_out=1)")
    row = task.prompts[0]
    stored = Trajectory.from_json(msgspec.structs.replace(row, response=row.ground_truth).to_json())
    assert score(load(task.reward), [stored])[0].score == 1.0
    [output] = score(load(f"reasoning_gym:{name}(seed=5)"), [stored])
    assert output.status.value == "skipped"
    assert "name the seed and options" in output.reason


def test_a_judge_that_needs_metadata_does_not_guess_without():
    [output] = score(load("reasoning_gym:word_ladder"), [Trajectory("?", "a,b", ground_truth="a,b")])
    assert output.status.value == "skipped"
    assert "column `entry`" in output.reason


@pytest.mark.parametrize("name", ["chain_sum", "leg_counting", "gcd", "spell_backward", "fraction_simplification"])
def test_our_verifier_agrees_with_the_generators_on_their_own_answers(name):
    rows = find_task(f"reasoning_gym:{name}(size=12, held_out=4)").prompts
    outputs = score(load("exact_match"), answered(rows, [f"<answer>{row.ground_truth}</answer>" for row in rows]))
    assert {output.score for output in outputs} == {1.0}
    assert {output.score for output in score(load("exact_match"), answered(rows, ["<answer>?!</answer>"] * 12))} == {
        0.0
    }


def test_a_task_of_ones_own_is_one_file(own):
    for spec in ("own.py", "own.py:double", f"{own}/own.py:double(below=40)"):
        assert (len(find_task(spec).prompts), find_task(spec).name) == (32, "double")
    assert len(find_task("own.py:double", {"below": 20}).prompts) == 12
    assert Levels.of(find_task("own.py").prompts).all == ["1", "2"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("sort_digit", "no task named 'sort_digit'; did you mean 'sort_digits'"),
        ("sort_digits(digit=3)", "no option 'digit'; did you mean 'digits'"),
        ("sort_digits(3)", "options of a task are named"),
        ("sort_digits(held_out=99999)", "cannot hold out 99999"),
        ("reasoning_gym:chain_sums", "no data set 'chain_sums'; did you mean 'chain_sum'"),
        ("reasoning_gym:chain_sum(min_term=2)", "no option 'min_term'; did you mean 'min_terms'"),
        ("reasoning_gym:chain_sum(min_terms=0)", "min_terms must be positive"),
        ("reasoning_gym:coin_flip(size=4, held_out=500)", "hold out fewer"),
        ("train.jsonl", "is a data file, which data.path=train.jsonl reads"),
        ("own.py:doubl", "no task 'doubl' in own.py:doubl; did you mean 'double'"),
        ("own.py:nothing", "returned int 3, not a Task"),
        ("own.py:double(below='x')", "making the task own.py:double failed: TypeError"),
        ("gone.py:double", "no file"),
        ("reasoning_gyn:chain_sum", "no module 'reasoning_gyn'; did you mean 'reasoning_gym'"),
        ("", "names no task"),
    ],
)
def test_an_invalid_task_spec_is_refused_with_the_reason(own, spec, said):
    with pytest.raises(PlauditError, match=said):
        find_task(spec)


def test_a_missing_package_error_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    with pytest.raises(MissingPackage, match=r"pip install 'plaudit\[tasks\]'"):
        find_task("reasoning_gym:chain_sum")


def loaded(*overrides):
    return load_task(load_config(None, ["eval.prompts=16", *overrides]))


def test_options_and_templates_reach_the_task():
    keys = ["task.size=12", "task.held_out=4", "task.max_terms=2"]
    asked = ["data.prompt_template=Q: {prompt}", "data.system_prompt=Be brief."]
    task = loaded("task=reasoning_gym:chain_sum", *keys, *asked)
    assert len(task.prompts) == 12
    assert [message["role"] for message in task.prompts[0].prompt] == ["system", "user"]
    assert task.prompts[0].prompt[1]["content"].startswith("Q: State the final answer")


def test_a_mixture_has_shares_rewards_and_demonstrations_of_each_task(own):
    task = loaded("tasks={sort_digits: 3, mine: {task: 'own.py:double', options: {below: 20}}}")
    assert dict(task.weights) == {"sort_digits": 0.75, "mine": 0.25}
    assert [sum(row.task == name for row in task.held_out) for name in task.weights] == [8, 8]
    assert not set(task.prompts.keys) & set(task.held_out.keys)
    shown = task.demonstrations
    assert sum(row.task == "mine" for row in shown) / len(shown) == pytest.approx(0.25, abs=0.01)
    outputs = score(task.reward, [shown[0], shown[-1], msgspec.structs.replace(shown[0], task="other")])
    assert [output.reward for output in outputs] == [1.0, 100.0, None]
    assert not task.runs_inline  # the user's reward may hang
    config = load_config(None, ["tasks={sort_digits: 3, mine: 1}", "data.shuffle=false"])
    stream = build_stream(task.prompts, task.weights, Levels.of(task.prompts), config)
    assert [task.prompts[index].task for index in stream.indices(8)].count("mine") == 2


def test_a_prompt_held_out_by_one_task_is_not_trained_on_by_another():
    task = loaded("tasks={sort_digits: 1, again: {task: sort_digits, options: {seed: 5}}}", "eval.prompts=null")
    assert not set(task.prompts.keys) & set(task.held_out.keys)
    assert any("since another task holds them out" in note for note in task.notes)


def test_the_column_of_a_data_file_says_which_task_a_row_is_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"prompt": f"{n}", "answer": f"{n}", "kind": "ab"[n % 2], "hard": n % 3} for n in range(40)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    keys = ["data.path=rows.jsonl", "data.task_key=kind", "data.difficulty_key=hard"]
    task = load_task(load_config(None, keys), "exact_match")
    assert {row.task for row in task.prompts} == {"a", "b"}
    assert sorted(Levels.of(task.prompts).all) == ["a/0", "a/1", "a/2", "b/0", "b/1", "b/2"]
    for wrong, words in (
        (["tasks.a.reward=exact_match"], "give each task its own, tasks.a.data.path"),
        (["data.difficulty_key=hart"], "no such column; did you mean 'hard'"),
        (["data.task_key=kid"], "no column 'kid' to read 'task' from; did you mean 'kind'"),
    ):
        with pytest.raises(PlauditError, match=words):
            load_task(load_config(None, [*keys, *wrong]), "exact_match")


def test_parts_may_be_data_files_and_need_a_reward(tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps({"prompt": f"{n}", "answer": n}) for n in range(20)))
    data = f"{{path: '{tmp_path}/rows.jsonl', eval_share: 0.5}}"
    task = loaded(f"tasks={{mine: {{data: {data}, reward: exact_match}}, sort_digits: 1}}")
    assert sum(row.task == "mine" for row in task.prompts) == 10
    with pytest.raises(InvalidSettings, match=r"set tasks\.mine\.reward"):
        loaded(f"tasks={{mine: {{data: {data}}}, sort_digits: 1}}")
    with pytest.raises(InvalidSettings, match=r"tasks.mine.data has no .*; did you mean 'eval_share'"):
        loaded("tasks={mine: {data: {path: x.jsonl, eval_shar: 0.5}}}")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("tasks={sort_digits: -1}", "tasks.sort_digits.weight: expected `float` > 0"),
        ("tasks={sort_digits: {wieght: 2}}", "did you mean 'weight'"),
        ("tasks=3", "tasks are names with weights"),
        ("tasks={own.py: 1}", "tasks.own has no setting 'py'"),
        ("tasks={sort_digit: 1}", "no task named 'sort_digit'; did you mean 'sort_digits'"),
        ("task.digit=3", "the task sort_digits has no option 'digit'"),
        ("curriculum.stages=true", "need by=difficulty"),
        ("curriculum.by=difficult", "did you mean 'difficulty'"),
    ],
)
def test_an_invalid_task_key_is_refused_with_the_reason(override, said):
    with pytest.raises(InvalidSettings, match=said):
        loaded(override)


def test_a_task_that_is_no_rows_is_an_error():
    with pytest.raises(DataError, match="row 1 must be a mapping with a prompt"):
        Task.from_rows("mine", [{"prompt": "a"}, {"promt": "b"}], "exact_match", held_out=1)


@pytest.mark.parametrize(("share", "noted"), [(0.1, True), (0.5, False), (0, False)])
def test_data_of_which_no_prompt_is_held_out_has_a_note_unless_that_was_asked_for(tmp_path, share, noted):
    rows = [{"prompt": f"{number}=", "answer": str(number)} for number in range(3)]
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = load_task(load_config(None, [f"data.path={tmp_path}/few.jsonl", f"data.eval_share={share}"]), "exact_match")
    assert any("no prompts are held out" in note for note in task.notes) is noted

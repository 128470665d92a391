"""Options for rewards of other systems: in Python, in a spec, in YAML."""

import warnings

import pytest

from plaudit import Trajectory, score
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load, resolve, spec_using

BEST = """
def reward_func(queries, prompts, labels):
    longest = max(map(len, queries))
    return [float(len(query) == longest) for query in queries]
"""
TEMPLATED = """
def reward_func(queries, prompts, labels):
    return [float(prompt.endswith("<|im_start|>assistant\\n")) for prompt in prompts]
"""
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
GROUPS = [
    Trajectory("a", "long answer", group="a"),
    Trajectory("a", "short", group="a"),
    Trajectory("b", "x", group="b"),
]


def rewards(reward, batch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [output.reward for output in score(reward, batch)]


@pytest.mark.parametrize("way", ["python", "spec", "yaml"])
def test_scope_says_what_a_reward_of_batches_sees_together(write, way):
    path = write("best.py", BEST)
    write("best.yaml", "reward: best.py\nscope: group\n")
    reward = {
        "python": lambda: load(str(path), scope="group"),
        "spec": lambda: load(f"using('{path}', scope='group')"),
        "yaml": lambda: load(str(path.with_suffix(".yaml"))),
    }[way]()
    assert rewards(reward, GROUPS) == [1.0, 0.0, 1.0]
    assert rewards(load(str(path)), GROUPS) == [1.0, 0.0, 0.0]


ONE_NUMBER = """
def reward_func(queries, prompts, labels):
    return {"rewards": float(len(queries[0]))}
"""


@pytest.mark.parametrize("way", ["python", "spec", "yaml"])
def test_max_batch_says_how_many_samples_a_call_takes(write, way):
    path = write("one_number.py", ONE_NUMBER)
    write("one_number.yaml", "reward: one_number.py\nmax_batch: 1\n")
    reward = {
        "python": lambda: load(str(path), max_batch=1),
        "spec": lambda: load(f"using('{path}', max_batch=1)"),
        "yaml": lambda: load(str(path.with_suffix(".yaml"))),
    }[way]()
    assert rewards(reward, GROUPS) == [12.0, 6.0, 2.0]
    assert "max_batch=1 (--max-batch 1)" in score(load(str(path)), GROUPS)[0].reason


@pytest.mark.parametrize("way", ["python", "spec", "yaml"])
def test_chats_become_text_in_the_form_of_a_template(write, way):
    path = write("templated.py", TEMPLATED)
    write("templated.yaml", "reward: templated.py\nchat_template: chatml\n")
    reward = {
        "python": lambda: load(str(path), chat_template="chatml"),
        "spec": lambda: load(f"using('{path}', chat_template='chatml')"),
        "yaml": lambda: load(str(path.with_suffix(".yaml"))),
    }[way]()
    assert rewards(reward, [Trajectory(CHAT, "Ho"), Trajectory("plain", "Ho")]) == [1.0, 0.0]


def test_a_chat_prompt_meeting_a_file_that_reads_text_is_a_warning(write):
    path = write("templated.py", TEMPLATED)
    with pytest.warns(UserWarning, match=r"reward_func reads prompts as text, but the prompts are chats"):
        score(str(path), [Trajectory(CHAT, "Ho")])


def test_a_dialect_can_be_named(write):
    path = write(
        "shared_shape.py", "def mine(trajectories): return [float(t['messages'] != []) for t in trajectories]\n"
    )
    assert resolve(str(path)).convention == "plaudit function"
    forced = resolve(str(path), dialect="twinkle")
    assert forced.convention == "Twinkle function"
    assert rewards(forced.reward, GROUPS) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dialect": "twinkel"}, "no dialect 'twinkel'; did you mean 'twinkle'?"),
        ({"dialect": "openrlhf"}, "which is not how openrlhf writes rewards"),
        ({"scope": "groups"}, "scope is one of sample, group, batch; got 'groups'"),
        ({"scope": "group"}, "is given one sample at a time"),
        ({"max_batch": 2}, "mine is not a function of batches"),
        ({"chat_template": "./nowhere"}, "no chat template './nowhere'"),
    ],
)
def test_options_that_make_no_sense_are_refused_when_loading(write, options, words):
    path = write("plain.py", "def mine(response): return 1.0\n")
    with pytest.raises(RewardNotLoaded) as caught:
        load(str(path), **options)
    assert words in str(caught.value)


def test_options_in_yaml_belong_beside_a_single_spec(write):
    path = write("wrong.yaml", "sum: [format, length]\nscope: group\n")
    with pytest.raises(RewardNotLoaded, match="has scope, which belong beside a single spec"):
        load(str(path))


def test_a_spec_with_options_is_a_spec_again():
    assert spec_using("my.py:f") == "my.py:f"
    assert spec_using("my.py:f", scope="group", dialect=None) == "using('my.py:f', scope='group')"


def test_a_bare_name_is_found_in_the_file_of_the_folder_that_defines_it(write, monkeypatch):
    path = write("my_rewards.py", "def custom_reward_function(response, prompt, metadata): return 0.25\n")
    monkeypatch.chdir(path.parent)
    loaded = resolve("custom_reward_function")
    assert (loaded.origin, loaded.reward([Trajectory("?", "!")])) == ("custom_reward_function in my_rewards.py", [0.25])
    write("more_rewards.py", "def custom_reward_function(response): return 0.5\n")
    with pytest.raises(RewardNotLoaded, match=r"say which one: more_rewards\.py:custom_reward_function, my_rewards"):
        load("custom_reward_function")

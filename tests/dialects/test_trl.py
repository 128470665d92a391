"""TRL's functions and objects, and the shapes that ms-swift and Tunix share with them."""

import pytest

from plaudit import Status, Tokens, Trajectory
from plaudit.contract.scoring import score_samples
from plaudit.dialects.systems.completions import completions_reward
from plaudit.errors import RewardNotLoaded
from plaudit.loading import resolve

CHAT = [{"role": "user", "content": "2+2?"}]
TEXTS = [Trajectory("2+2?", "<answer>4</answer>", ground_truth="4"), Trajectory("2+3?", "6", ground_truth="5")]
CHATS = [Trajectory(CHAT, each.response, ground_truth=each.ground_truth) for each in TEXTS]

TEXT = """
    import re

    def right(completions, answer, **kwargs):
        return [float(re.search(truth, completion) is not None) for completion, truth in zip(completions, answer)]
"""
MESSAGES = """
    from trl import GRPOConfig, GRPOTrainer

    def right(prompts, completions, solution, **kwargs):
        contents = [completion[0]["content"] for completion in completions]
        return [float(truth in content) for content, truth in zip(contents, solution)]

    if __name__ == "__main__":
        GRPOTrainer(reward_funcs=[right], args=GRPOConfig()).train()
"""


def rewards(reward, batch):
    outputs = score_samples(reward, batch)
    assert all(output.ok for output in outputs), outputs[0].reason
    return [output.reward for output in outputs]


@pytest.mark.parametrize("batch", [TEXTS, CHATS], ids=["text", "chat"])
@pytest.mark.parametrize(("source", "form"), [(TEXT, "text"), (MESSAGES, "messages")])
def test_the_named_form_is_given_whatever_the_prompts_are(loaded, source, form, batch):
    result = loaded(source, dialect=f"trl:{form}")
    assert result.convention == "TRL function"
    assert rewards(result.reward, batch) == [1.0, 0.0]


ASYNC = MESSAGES.replace("    def right", "    async def right")


@pytest.mark.parametrize(
    ("source", "batch", "other"), [(TEXT, TEXTS, CHATS), (MESSAGES, CHATS, TEXTS), (ASYNC, CHATS, TEXTS)]
)
def test_without_a_named_form_the_data_decide_and_an_error_names_the_option(loaded, source, batch, other):
    result = loaded(source)
    assert rewards(result.reward, batch) == [1.0, 0.0]
    outputs = score_samples(result.reward, other)
    assert {output.status for output in outputs} == {Status.ERROR}
    assert "dialect='trl:text' or 'trl:messages' (--dialect)" in outputs[0].reason


@pytest.mark.parametrize("batch", [TEXTS, CHATS], ids=["text", "chat"])
def test_a_function_that_raises_is_called_once_and_its_samples_get_the_error(loaded, batch):
    result = loaded("""
        calls = []

        def right(completions, **kwargs):
            calls.append(completions)
            return [{}["absent"] for completion in completions] if len(calls) == 1 else [0.9] * len(completions)
    """)
    outputs = score_samples(result.reward, batch)
    assert len(result.reward.foreign.__globals__["calls"]) == 1
    assert [output.status for output in outputs] == [Status.ERROR] * len(batch)
    assert "KeyError: 'absent' (at my_rewards.py:6)" in outputs[0].reason


@pytest.mark.parametrize(("batch", "kind"), [(TEXTS, "str"), (CHATS, "list")])
def test_two_functions_of_a_file_get_the_same_form_in_a_composite(loaded, batch, kind):
    source = """
        seen = []

        def lengths(completions, **kwargs):
            seen.append({type(completion).__name__ for completion in completions})
            return [float(len(completion[0]["content"])) for completion in completions]

        def kinds(completions, **kwargs):
            seen.append({type(completion).__name__ for completion in completions})
            return [1.0 for completion in completions]
    """
    lengths = loaded(source, "lengths").reward
    kinds = completions_reward(lengths.foreign.__globals__["kinds"])
    score_samples(lengths + kinds, batch)
    assert lengths.foreign.__globals__["seen"] == [{kind}, {kind}]


def test_chats_are_given_as_messages_and_text_as_text(loaded):
    source = "def kinds(prompts, completions, **kw): return [float(isinstance(c, list)) for c in completions]"
    assert rewards(loaded(source).reward, [*TEXTS, *CHATS]) == [0.0, 0.0, 1.0, 1.0]


def test_columns_and_the_truth_are_given_by_name_and_to_keywords(loaded):
    result = loaded("""
        def level(completions, level, **kwargs):
            assert kwargs["solution"] == kwargs["ground_truth"] == ["4", "5"]
            assert "level" not in kwargs
            return level
    """)
    batch = [Trajectory("?", "!", ground_truth=truth, columns={"level": int(truth)}) for truth in "45"]
    assert rewards(result.reward, batch) == [4.0, 5.0]


def test_a_column_that_is_not_there_is_named(loaded):
    (output, _) = score_samples(loaded("def f(completions, levle): return levle").reward, TEXTS)
    assert output.status is Status.ERROR
    assert "asks for 'levle', which the samples do not have" in output.reason


def test_none_leaves_a_sample_out_and_an_error_is_named(loaded):
    outputs = score_samples(loaded("def f(completions): return [None, 1.0]").reward, TEXTS)
    assert [output.status for output in outputs] == [Status.SKIPPED, Status.OK]
    (output, _) = score_samples(loaded("def f(completions): return completions.absent").reward, TEXTS)
    assert "AttributeError" in output.reason


def test_classes_with_arguments_and_tokens_are_called_as_objects(loaded):
    result = loaded("""
        class Overlong:
            def __init__(self, limit): self.limit = limit
            def __call__(self, completion_ids, **kwargs):
                return [-1.0 if len(ids) > self.limit else 0.0 for ids in completion_ids]
    """, "Overlong(limit=2)")  # fmt: skip
    batch = [Trajectory("?", "!", tokens=Tokens(ids=list(range(count)))) for count in (2, 3)]
    assert rewards(result.reward, batch) == [0.0, -1.0]
    assert "asks for 'completion_ids'" in score_samples(result.reward, TEXTS)[0].reason


def test_further_lists_beside_the_rewards_are_kept(loaded):
    outputs = score_samples(loaded("def f(completions, **kw): return [1.0, 0.0], completions").reward, TEXTS)
    assert [(output.reward, output.metadata["parts"]) for output in outputs] == [
        (1.0, ["<answer>4</answer>"]),
        (0.0, ["6"]),
    ]


SWIFT = """
    from swift.rewards import ORM, AsyncORM, orms
    from swift.rewards.rm_plugin import DefaultRMPlugin
    from swift.rollout.multi_turn import MultiTurnScheduler, multi_turns
    from swift.utils import get_logger

    logger = get_logger()

    class Tagged(ORM):
        def __call__(self, completions, solution, **kwargs):
            return [float(truth in completion) for completion, truth in zip(completions, solution)]

    class Later(AsyncORM):
        async def __call__(self, completions, **kwargs):
            return [float(len(completion)) for completion in completions]

    orms["tagged"] = Tagged

    class Scheduler(MultiTurnScheduler):
        def step(self): return super().step()

    multi_turns["scheduler"] = Scheduler

    class Plugin(DefaultRMPlugin):
        def __call__(self, inputs): return inputs
"""


def test_orm_classes_of_a_plugin_score_text_and_the_rest_of_it_does_not_matter(loaded):
    result = loaded(SWIFT, "Tagged")
    assert result.convention == "ms-swift ORM"
    assert rewards(result.reward, CHATS) == [1.0, 0.0]
    assert rewards(loaded(SWIFT, "Later").reward, TEXTS) == [18.0, 1.0]
    with pytest.raises(ImportError, match=r"'DefaultRMPlugin' of swift\.rewards\.rm_plugin is needed"):
        loaded(SWIFT, "Plugin")


def test_a_tunix_file_is_known_by_its_imports_and_gets_text(loaded):
    result = loaded("""
        from tunix.rl.agentic.rewards import reward

        @reward.register("right")
        def right(prompts, completions, answer, **kwargs):
            assert prompts == ["2+2?", "2+2?"]
            return [float(truth in completion) for completion, truth in zip(completions, answer)]
    """)
    assert result.convention == "Tunix function"
    assert rewards(result.reward, CHATS) == [1.0, 0.0]


def test_a_shape_that_two_systems_share_shows_the_candidates_unless_one_is_named(tmp_path):
    path = tmp_path / "both.py"
    path.write_text("def f(queries, prompts, labels=None, completions=None): return [1.0 for query in queries]\n")
    with pytest.raises(RewardNotLoaded, match=r"f could be written for openrlhf or trl; say which: dialect='openrlhf'"):
        resolve(str(path))
    assert resolve(str(path), dialect="openrlhf").convention == "OpenRLHF reward file"


@pytest.mark.parametrize("home", ["trl", "swift"])
def test_keywords_hold_what_the_trainer_puts_there(loaded, home):
    result = loaded(f"""
        import {home}

        class Late:
            def __call__(self, completions, **kwargs):
                kwargs.get("log_metric", print)("seen", len(completions))
                return [float(kwargs["trainer_state"].global_step) for _ in completions]
    """)
    assert [each.reward for each in score_samples(result.reward, [Trajectory("q", "a", training_step=7)])] == [7.0]

"""Episodes of a world as training sees them: token in, token out through tool results, which are masked."""

import pytest

from plaudit import Trajectory
from plaudit.agents import EpisodeLimits
from plaudit.loading import load_agent
from plaudit.training import EpisodeSampler, EpisodeScorer, ModelConfig, SamplingSettings, tiny_policy, warm_start
from plaudit.worlds import WORLDS

ROOM = WORLDS["robot_room"]


class Recording:
    """A sampler that keeps the contexts it was given and the actions it drew."""

    def __init__(self, sampler):
        self.sampler, self.log = sampler, []
        self.tokenizer, self.settings, self.context = sampler.tokenizer, sampler.settings, sampler.context

    def continue_from(self, contexts, settings=None, *, seeds=None):
        actions = self.sampler.continue_from(contexts, settings, seeds=seeds)
        self.log += zip(contexts, [action.ids for action in actions], strict=True)
        return actions


@pytest.fixture(scope="module")
def played():
    """Episodes of the embedded model after a short warm start, with what its sampler was asked."""
    policy = tiny_policy(seed=1)
    shown = [Trajectory(row["prompt"], row["response"]) for row in ROOM.demonstrations(list(ROOM.tasks())[:20])]
    warm_start(policy, shown, ModelConfig(warm_start_steps=80, warm_start_batch=32), seed=1)
    sampler = Recording(policy.sampler(SamplingSettings(max_new_tokens=12, stop=("]",), seed=1)))
    episodes = EpisodeSampler(sampler, load_agent("robot_room"), EpisodeLimits(max_steps=4, max_length=128))
    rows = [Trajectory(row["prompt"], "", ground_truth=row["ground_truth"]) for row in ROOM.rows()[100:104]]
    return policy, sampler.log, episodes.sample(rows, num_samples=8)


def test_the_context_of_each_turn_begins_with_that_of_the_turn_before(played):
    policy, log, sampled = played
    turns = [len(trajectory.steps) for trajectory in sampled.trajectories]
    assert max(turns) >= 3, "no episode called two tools: the warm start is too short for this test"
    for prompt_ids, trajectory in zip(sampled.prompt_ids, sampled.trajectories, strict=True):
        whole = [*prompt_ids, *trajectory.tokens.ids]
        for step in trajectory.steps:
            begin, end = (len(prompt_ids) + index for index in step.metadata["tokens"])
            assert (whole[:begin], whole[begin:end]) in log  # what the model saw, and what it drew there
        assert policy.tokenizer.decode(trajectory.tokens.ids) == trajectory.response


def test_exactly_the_tokens_of_tool_results_are_masked(played):
    policy, _, sampled = played
    for trajectory in sampled.trajectories:
        tokens = trajectory.tokens
        masked = [token for token, is_action in zip(tokens.ids, tokens.mask, strict=True) if not is_action]
        *before, _ = trajectory.steps  # no action follows the last feedback
        assert policy.tokenizer.decode(masked) == "".join(step.metadata["feedback"] for step in before)
        drawn = [token for token, is_action in zip(tokens.ids, tokens.mask, strict=True) if is_action]
        assert policy.tokenizer.decode(drawn) == "".join(step.response for step in trajectory.steps)
        assert all((logprob is not None) for logprob in tokens.logprobs)


def test_steps_show_the_calls_and_what_they_changed_and_the_state_decides(played):
    _, _, sampled = played
    letters = {name: task.data["letter"] for name, task in ROOM.tasks().items()}
    outputs = EpisodeScorer().score(sampled.trajectories)
    for trajectory, output in zip(sampled.trajectories, outputs, strict=True):
        logs = [step.metadata.get("logs", {}) for step in trajectory.steps]
        changed = {change["path"] for each in logs for change in each.get("changes", ())}
        has_ended = "ended" in logs[-1]
        assert output.reward == float(has_ended and changed == {f"lamps.{letters[trajectory.ground_truth]}"})
    assert {output.reward for output in outputs} == {0.0, 1.0}
    assert {call["name"] for each in sampled.trajectories for step in each.steps
            for call in step.metadata.get("logs", {}).get("calls", ()) if call["ok"]} == {"see", "on"}  # fmt: skip

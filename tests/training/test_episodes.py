"""Episodes in the training loop: what is trained on is what was drawn, and it learns."""

import shutil
import textwrap

import pytest
import torch

from plaudit import Status, Trajectory, reward
from plaudit.agents import EpisodeLimits
from plaudit.errors import AgentError
from plaudit.loading import load_agent
from plaudit.training import SamplingSettings, train
from plaudit.training.engine import Progress
from plaudit.training.episodes import EpisodeSampler, EpisodeScorer
from plaudit.training.model.loading import tiny_policy
from tests.training.runs import curves, metrics, rollouts, small

TWO_TURNS = """
    from openrlhf.utils.agent import AgentExecutorBase, AgentInstanceBase

    class AgentInstance(AgentInstanceBase):
        '''Say the first half of the label, hear "+", say the second half; half a point for each.'''

        async def __init__(self, *args, **kwargs):
            self.turn = 0

        async def step(self, states, **kwargs):
            half = len(states["label"]) // 2
            wanted = states["label"][half:] if self.turn else states["label"][:half]
            hit = 0.5 * states["action_text"].startswith(wanted)
            self.turn += 1
            return {
                "rewards": [hit],
                "scores": hit,
                "environment_feedback": "+",
                "done": self.turn == 2,
                "sampling_params": states["sampling_params"],
                "extra_logs": {"turns": self.turn},
            }

    class AgentExecutor(AgentExecutorBase):
        def __init__(self, max_steps, max_length, llm_engine, hf_tokenizer, result_queue):
            super().__init__(AgentInstance, max_steps, max_length, llm_engine, hf_tokenizer, result_queue)

        async def execute(self, prompt, label, sampling_params):
            return await super().execute(prompt, label, sampling_params)
"""


@pytest.fixture
def written(tmp_path):
    """`written(source)` is the path of an agent file, beside four prompts in data.jsonl."""
    rows = [f'{{"prompt": "{text}=", "label": "{text}"}}\n' for text in ("aa", "ab", "ba", "bb")]
    (tmp_path / "data.jsonl").write_text("".join(rows))

    def write(source: str) -> str:
        (tmp_path / "agent.py").write_text(textwrap.dedent(source))
        return str(tmp_path / "agent.py")

    return write


def options(tmp_path, *more: str) -> list[str]:
    return [f"training.agent_file={tmp_path}/agent.py", f"data.path={tmp_path}/data.jsonl", "data.eval_share=0",
            "sampling.max_new_tokens=2", "model.warm_start_steps=20", "training.agent_workers=0", *more]  # fmt: skip


def test_the_tokens_trained_on_are_the_ones_sampled(written):
    policy = tiny_policy(seed=1)
    sampler = policy.sampler(SamplingSettings(max_new_tokens=3, seed=5))
    drawn, draw = [], sampler.continue_from

    def record_contexts(contexts, settings, **named):
        actions = draw(contexts, settings, **named)
        drawn.extend((context, action) for context, action in zip(contexts, actions, strict=True))
        return actions

    sampler.continue_from = record_contexts
    episodes = EpisodeSampler(sampler, load_agent(written(TWO_TURNS)), EpisodeLimits(max_length=40))
    sampled = episodes.sample([Trajectory(text, "", ground_truth="ab") for text in ("aa=", "a=b=")], 3)
    batch = policy.batch(sampled)
    logprobs = policy.logprobs(batch).logprobs_B_T
    rows = [tuple(context + action.ids) for context, action in drawn]
    for row, trajectory in enumerate(sampled.trajectories):
        ids = batch.ids_B_L[row, : batch.starts_B[row] + batch.lengths_B[row]].tolist()
        assert tuple(ids) in rows  # the last action was drawn after exactly these tokens
        pairs = zip(trajectory.tokens.ids, trajectory.tokens.mask, strict=True)
        given_ids = [token for token, chosen in pairs if not chosen]
        assert given_ids == policy.tokenizer("+")["input_ids"]
        assert batch.mask_B_T[row, : len(trajectory.tokens)].tolist() == trajectory.tokens.mask
        chosen = batch.mask_B_T[row].bool()
        drawn_with = torch.tensor(trajectory.tokens.logprobs)[chosen[: len(trajectory.tokens)]]
        assert torch.allclose(logprobs[row][chosen], drawn_with, atol=1e-4)
        texts = [trajectory.response[start:end] for start, end in trajectory.tokens.offsets]
        assert "".join(texts) == trajectory.response
        assert trajectory.response == "+".join(step.response for step in trajectory.steps)


def test_the_same_seed_gives_the_same_episodes_and_another_gives_others(written):
    agent = load_agent(written(TWO_TURNS))
    sampler = EpisodeSampler(tiny_policy(seed=1).sampler(), agent, EpisodeLimits(max_length=40))
    texts = [
        sampler.sample(Trajectory("aa=", "", ground_truth="ab"), 8, settings=SamplingSettings(4, seed=seed)).texts
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_an_agent_that_asks_for_another_temperature_is_not_scored(written):
    hotter = TWO_TURNS.replace(
        '"sampling_params": states["sampling_params"]',
        '"sampling_params": __import__("plaudit").agents.SamplingParams(2, 3.0, 1.0, 0, [])',
    )
    policy = tiny_policy(seed=1)
    sampler = policy.sampler(SamplingSettings(max_new_tokens=3, seed=5))
    episodes = EpisodeSampler(sampler, load_agent(written(hotter)), EpisodeLimits(max_length=40))
    sampled = episodes.sample([Trajectory("aa=", "", ground_truth="ab")], 3)
    for output in EpisodeScorer().score(sampled.trajectories):
        assert output.reward is None
        assert "asks for the temperature 3, but the run samples at 1; set sampling.temperature" in output.reason


def test_a_two_turn_environment_is_learnt(written, tmp_path):
    written(TWO_TURNS)
    more = ["steps=25", "sampling.samples_per_prompt=16", "optimizer.lr=3e-3", "model.warm_start_steps=10",
            "checkpoint.every=0", "logging.rollouts_every=25"]  # fmt: skip
    train(small(tmp_path / "run", *options(tmp_path, *more)))
    earned = [row["reward"] for row in metrics(tmp_path / "run") if "reward" in row]
    assert sum(earned[-3:]) / 3 > sum(earned[:3]) / 3 + 0.2
    [first, *_] = rollouts(tmp_path / "run")
    assert len(first["steps"]) == 2
    assert first["reward_output"]["reward"] == sum(step["reward"] for step in first["steps"])
    last = metrics(tmp_path / "run")[-1]
    assert last["extra/turns"] == 2.0
    assert last["length/max"] <= 4.0  # two turns of two tokens: feedback does not count


def test_a_resumed_run_of_episodes_leaves_the_same_curves(written, tmp_path):
    written(TWO_TURNS)
    told = options(tmp_path, "checkpoint.every=1", "training.async_train=true", "training.credit=steps", "steps=3")
    train(small(tmp_path / "whole", *told))
    shutil.copytree(tmp_path / "whole", tmp_path / "parts")
    [last] = (tmp_path / "parts" / "checkpoints").glob("*3")
    last.rename(tmp_path / "away")
    train(small(tmp_path / "parts", *told), resume=True)
    assert curves(tmp_path / "parts") == curves(tmp_path / "whole")


FAILING = """
    class AgentInstance:
        async def reset(self, states):
            raise ConnectionError("no server")

        async def step(self, states):
            return {}
"""


def test_a_run_whose_every_episode_fails_ends_with_reasons_and_without_an_update(written, tmp_path):
    written(FAILING)
    train(small(tmp_path / "run", *options(tmp_path, "steps=2")))
    last = metrics(tmp_path / "run")[-1]
    assert last["status/error"] == 1.0
    assert "grad_norm" not in last
    assert "no server" in rollouts(tmp_path / "run")[0]["reward_output"]["reason"]


class Notes(Progress):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


UNREWARDED = """
    class AgentInstance:
        def reset(self, states):
            return {"observation": states["observation"]}

        def step(self, states):
            return {"environment_feedback": "?", "done": False, "extra_logs": {"seen": 1}}
"""


def test_an_agent_without_rewards_or_an_end_is_judged_by_the_reward_function_and_reported_once(written, tmp_path):
    written(UNREWARDED)

    @reward
    def questions(response):
        return float(response.count("?"))

    more = ("steps=2", "training.agent_max_steps=3", "training.reward_backend=inline")
    heard = Notes()
    train(small(tmp_path / "run", *options(tmp_path, *more)), reward=questions, progress=heard)
    outputs = [row["reward_output"] for row in rollouts(tmp_path / "run")]
    assert {output["reward"] >= 2.0 for output in outputs} == {True}
    assert {output["metadata"]["seen"] for output in outputs} == {1}
    [cut] = [note for note in heard.notes if "turn limit" in note]
    assert "episodes ended at the turn limit of 3 before the environment was done" in cut


def test_episodes_that_nobody_judges_are_skipped_and_report_it(written):
    policy = tiny_policy(seed=1)
    sampler = EpisodeSampler(policy.sampler(SamplingSettings(2)), load_agent(written(UNREWARDED)), EpisodeLimits(2))
    [output] = EpisodeScorer().score(sampler.sample("aa=").trajectories)
    assert output.status is Status.SKIPPED
    assert "set one" in output.reason


OWN_WAY = """
    from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

    class AgentInstance(AgentInstanceBase):
        async def step(self, states, **kwargs):
            raise AssertionError("never played")

    class AgentExecutor(MultiTurnAgentExecutor):
        def __init__(self):
            super().__init__(AgentInstance)

        async def execute(self, prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images=None):
            if label == "bad":
                raise ValueError("own code failed")
            ids = hf_tokenizer(prompt)["input_ids"]
            ranges = []
            for _ in range(2):
                drawn = (await llm_engine.generate(ids, sampling_params)).outputs[0]
                ranges.append((len(ids), len(ids) + len(drawn.token_ids)))
                ids = ids + drawn.token_ids + hf_tokenizer("+")["input_ids"]
            return {"observation_tokens": ids, "action_ranges": ranges, "reward": 0.5, "scores": 1.5}
"""


def test_an_executor_that_plays_in_its_own_way_is_trained_on_too(written):
    policy = tiny_policy(seed=1)
    sampler = EpisodeSampler(policy.sampler(SamplingSettings(2, seed=1)), load_agent(written(OWN_WAY)), EpisodeLimits())
    rows = [Trajectory("aa=", "", ground_truth=truth) for truth in ("good", "bad")]
    sampled = sampler.sample(rows)
    good, bad = EpisodeScorer().score(sampled.trajectories)
    assert (good.reward, good.score, good.metadata) == (0.5, 1.0, {"scores": 1.5})
    assert "AgentExecutor raised ValueError: own code failed" in bad.reason
    mask = sampled.trajectories[0].tokens.mask
    assert mask.count(0) == 1
    assert mask[-1] == 1
    assert policy.batch(sampled).lengths_B.tolist() == [len(mask), 0]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "has no environment"),
        ("class A:\n    reset = step = print\nclass B(A): pass", "name the intended one AgentInstance"),
        (OWN_WAY.replace("def __init__(self)", "def __init__(self, wand)"), "needs 'wand'"),
    ],
    ids=["nothing", "two", "argument"],
)
def test_an_agent_file_that_cannot_be_run_is_refused(written, source, message):
    with pytest.raises(AgentError, match=message):
        load_agent(written(source))


DAWDLES = """
    import asyncio, random
    from plaudit.agents import Environment, StepResult

    class Dawdles(Environment):
        turns = 0

        async def reset(self, start):
            self.seed = start.seed

        async def step(self, action):
            await asyncio.sleep(random.SystemRandom().choice((0.0, 0.1)))  # also on a busy machine, some are first
            self.turns += 1
            return StepResult("abcd"[self.seed % 4], done=self.turns == 3, reward=0.0)
"""


def test_a_seed_gives_the_same_episodes_whichever_environment_answers_first(written):
    agent = load_agent(written(DAWDLES))
    sampler = EpisodeSampler(tiny_policy(seed=1).sampler(), agent, EpisodeLimits(max_length=60))
    sizes, draw = [], sampler.sampler.continue_from

    def note_sizes(contexts, settings, **named):
        sizes.append(len(contexts))
        return draw(contexts, settings, **named)

    sampler.sampler.continue_from = note_sizes
    first, second = (sampler.sample(["aa=", "ab="], 8, settings=SamplingSettings(4, seed=3)) for _ in range(2))
    assert [each.tokens.ids for each in first.trajectories] == [each.tokens.ids for each in second.trajectories]
    assert len(sizes) > 6  # they were not drawn in rounds

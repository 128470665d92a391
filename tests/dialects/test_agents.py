"""Environments of other systems: Gymnasium with the real package; verifiers has its own in `make compat`."""

import textwrap

import pytest

from plaudit.agents import EpisodeStart
from plaudit.errors import AgentError, MissingPackage
from plaudit.loading import load_agent

ENVIRONMENTS = '''
    import gymnasium
    from gymnasium import spaces


    class Parity(gymnasium.Env):
        """Even is 0, odd is 1."""

        action_space = spaces.Discrete(2)
        observation_space = spaces.Text(20)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.number = int(self.np_random.integers(0, 100))
            return f"{self.number}? ", {}

        def step(self, action):
            right = action == self.number % 2
            return "right" if right else "wrong", float(right), True, False, {"number": self.number, "self": self}


    class Echo(gymnasium.Env):
        action_space = spaces.Text(20)
        observation_space = spaces.Dict({"text": spaces.Text(20), "count": spaces.Discrete(3)})

        def reset(self, *, seed=None, options=None):
            return {"text": "say end", "count": 1}, {}

        def step(self, action):
            return {"text": action, "count": 2}, 1.0, False, action == "end", {}


    class Numbers(Echo):
        def reset(self, *, seed=None, options=None):
            return 3, {}
'''


@pytest.fixture
def build(tmp_path):
    (tmp_path / "gyms.py").write_text(textwrap.dedent(ENVIRONMENTS))
    return lambda name: load_agent(f"{tmp_path}/gyms.py:{name}").environment()


def test_discrete_actions_are_numbers_and_chance_comes_from_the_seed(build):
    first, second, other = (build("Parity") for _ in range(3))
    shown = [first.reset(EpisodeStart("n: ", seed=5)), second.reset(EpisodeStart("n: ", seed=5))]
    assert shown[0] == shown[1] != other.reset(EpisodeStart("n: ", seed=6))
    assert first.step("maybe 7").feedback == "\nSay a number from 0 to 1.\n"
    number = int(shown[0].split()[1][:-1])
    result = first.step(f"It is {number % 2}.")
    assert (result.feedback, result.reward, result.done, result.logs) == (
        "right",
        1.0,
        True,
        {"number": number, "self": "<Parity instance>"},
    )


def test_texts_are_actions_and_truncation_ends_the_episode(build):
    environment = build("Echo")
    assert environment.reset(EpisodeStart("Go: ")) == "Go: say end"
    assert not environment.step("more").done
    assert environment.step("end").done


def test_observations_that_are_no_texts_are_refused_by_name(build):
    with pytest.raises(AgentError, match="Numbers gives int as observations"):
        build("Numbers").reset(EpisodeStart("Go: "))


def test_an_environment_of_verifiers_names_the_package_that_it_needs(tmp_path):
    (tmp_path / "game.py").write_text(
        "import verifiers as vf\n\n\ndef load_environment():\n    return vf.MultiTurnEnv(max_turns=3)\n"
    )
    with pytest.raises(MissingPackage, match=r"needs 'verifiers': pip install 'verifiers<0\.2'"):
        load_agent(tmp_path / "game.py")

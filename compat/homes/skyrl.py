"""SkyRL: environments made by its registry and stepped once; its own GSM8K environment."""

import skyrl_gym
from suite import Shipped, load_shim

SYSTEM, DISTRIBUTION = "skyrl", "skyrl-gym"
RAN = "skyrl_gym.make of the registered environment, init and step; its gsm8k environment"


def play(name, rollouts):
    values = []
    for each in rollouts:
        env = skyrl_gym.make(name, env_config={}, extras={"reward_spec": {"ground_truth": each.truth}})
        env.init([{"role": "user", "content": each.prompt}])
        values.append(env.step(each.response)["reward"])
    return values


def registered(shim, rollouts):
    load_shim(shim)
    return play(shim.stem.rpartition("_")[2], rollouts)


FORMS = {"skyrl": registered}


def shipped():
    yield Shipped("skyrl_gym.envs.gsm8k.env:GSM8kEnv", lambda rollouts: play("gsm8k", rollouts), dialect="skyrl")

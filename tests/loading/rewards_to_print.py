"""Rewards of a user's file, for the tests of what rewards print."""

from dataclasses import dataclass

from plaudit import RewardFunction, Trajectory, reward


def brief(response):
    return 1.0 / (1 + len(response))


@reward(bounds=(0, 1))
def share(responses):
    return [len(each) / sum(map(len, responses)) for each in responses]


@dataclass
class Near(RewardFunction):
    target: int = 3
    note: str = ""

    def compute_reward(self, trajectory: Trajectory) -> float:
        return 1.0 / (1 + abs(self.target - len(trajectory.response)))


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return float(ground_truth in solution_str)


def completions_length(prompts, completions, **columns):
    return [float(len(each)) for each in completions]

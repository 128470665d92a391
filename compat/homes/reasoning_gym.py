"""reasoning-gym: data sets that score answers."""

import reasoning_gym
from suite import Rollout, Shipped

SYSTEM, DISTRIBUTION = "reasoning_gym", "reasoning-gym"
RAN = "create_dataset and score_answer of three data sets"
FORMS = {}


def shipped():
    for name in ("basic_arithmetic", "leg_counting", "gcd"):
        data = reasoning_gym.create_dataset(name, size=3, seed=1)
        rows = [data[place] for place in range(3)]
        said = [(row, text) for row in rows for text in (str(row["answer"]), f"about {row['answer']}", "no idea")]

        def home(rollouts, data=data, said=said):
            return [data.score_answer(text, row) for row, text in said]

        rollouts = [Rollout(row["question"], text, row["answer"], place) for place, (row, text) in enumerate(said)]
        yield Shipped(f"reasoning_gym:create_dataset('{name}', size=3, seed=1)", home, rollouts)

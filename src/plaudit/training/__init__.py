"""Train a policy with a reward: sampler → reward → advantage → update."""

"""Train a language model with a reward: sampler → reward → advantage → policy update."""

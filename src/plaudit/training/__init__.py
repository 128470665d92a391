"""Train with a reward: prompts are sampled, responses are scored, and the policy learns from the advantages.

Nothing is imported here: `plaudit.training.advantages` needs no torch, and the rest imports it where it is used.
"""

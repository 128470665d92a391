"""Reward models from preferences: pairs are built or read, a model is trained on them and judged on others."""

"""The tiny model, warmed up once, for every test that needs one that has learned something."""

import pytest
import torch

from plaudit.training.config.schema import ModelConfig
from plaudit.training.data.task_catalog import find_task
from plaudit.training.learning.optimizer import warm_start
from plaudit.training.model.loading import tiny_policy
from plaudit.training.model.policy import Policy


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def sort_task():
    return find_task("sort_digits")


@pytest.fixture(scope="session")
def warm_policy(sort_task) -> Policy:
    """Do not train this one: it is shared."""
    policy = tiny_policy(seed=1)
    warm_start(policy, sort_task.demonstrations[:2000], ModelConfig(warm_start_steps=25), seed=1)
    return policy


@pytest.fixture
def tiny() -> Policy:
    """A fresh tiny policy that a test may change."""
    return tiny_policy(seed=1)

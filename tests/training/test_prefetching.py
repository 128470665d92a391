"""Batches drawn ahead: while the policy is updated, from weights of bounded age, and none across a checkpoint."""

import threading

from plaudit import FunctionReward
from plaudit.training import train
from plaudit.training.collecting import PrefetchedBatches
from plaudit.training.model.policy import Policy
from tests.training.runs import metrics, small


class Collector:
    """Tells which weights each batch was drawn with, when it is allowed to."""

    def __init__(self):
        self.drawn = {}
        self.go_on = threading.Event()
        self.go_on.set()

    def collect(self, step, sampler, *, staleness=0):
        assert self.go_on.wait(10)
        self.drawn[step] = (next(sampler.model.parameters()).flatten()[0].item(), staleness)
        return step


def moved(policy):
    """One update: the first weight grows by one."""
    next(policy.model.parameters()).data.flatten()[0] += 1.0


def run(policy, collector, steps, *, max_staleness, every):
    ahead = PrefetchedBatches(
        collector,
        policy,
        build_sampler=Policy.sampler,
        max_staleness=max_staleness,
        last_prefetchable_step=lambda step: min(steps, -(-step // every) * every),
    )
    first = next(policy.model.parameters()).flatten()[0].item()
    for step in range(1, steps + 1):
        assert ahead.next(step) == step
        moved(policy)
    ahead.close()
    return {step: (round(weight - first), staleness) for step, (weight, staleness) in collector.drawn.items()}


def test_a_batch_is_drawn_with_weights_of_bounded_age(tiny):
    drawn = run(tiny, Collector(), 6, max_staleness=2, every=100)
    assert drawn == {1: (0, 0), 2: (0, 1), 3: (0, 2), 4: (1, 2), 5: (2, 2), 6: (3, 2)}


def test_no_batch_is_drawn_across_a_checkpoint(tiny):
    drawn = run(tiny, Collector(), 4, max_staleness=2, every=2)
    assert drawn == {1: (0, 0), 2: (0, 1), 3: (2, 0), 4: (2, 1)}


def test_the_policy_is_updated_while_the_next_batch_is_drawn(tiny):
    collector = Collector()
    ahead = PrefetchedBatches(
        collector, tiny, build_sampler=Policy.sampler, max_staleness=1, last_prefetchable_step=lambda step: 2
    )
    ahead.next(1)
    collector.go_on.clear()
    moved(tiny)  # the second batch waits meanwhile
    assert set(collector.drawn) <= {1, 2}
    collector.go_on.set()
    assert ahead.next(2) == 2
    ahead.close()


def test_stale_batches_are_logged_and_corrected(tmp_path):
    always = FunctionReward(lambda response: float(sum(map(ord, response)) % 7))  # every group has something to teach
    told = ("training.async_train=true", "training.max_staleness=2", "checkpoint.every=0")
    train(small(tmp_path / "run", "training.reward_backend=inline", *told), reward=always)
    rows = metrics(tmp_path / "run")[1:]
    assert [row["staleness"] for row in rows] == [0, 1, 2, 2, 2, 2]
    assert all("importance/mean" in row for row in rows)

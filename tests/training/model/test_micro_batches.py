"""A batch computed in micro-batches gives what the whole gives."""

import pytest
import torch


@pytest.mark.parametrize("count", [3, 100])
def test_numbers_of_micro_batches_stand_where_those_of_the_whole_stand(warm_policy, count):
    sampled = warm_policy.sampler().sample(["12=", "4321=", "9=", "776655="], 3)
    batch = warm_policy.batch(sampled)
    with torch.no_grad():
        whole = warm_policy.logprobs(batch).logprobs_B_T
        split = batch.compute(lambda part: warm_policy.logprobs(part).logprobs_B_T, count)
    torch.testing.assert_close(split, whole, atol=1e-5, rtol=0)

"""Log-probabilities against plain transformers, and what survives saving, restoring and merging."""

import pytest
import torch

from plaudit.errors import InvalidSettings, PolicyError
from plaudit.training import SamplingSettings
from plaudit.training.config.schema import ModelConfig
from plaudit.training.learning.optimizer import warm_start
from plaudit.training.model.loading import add_lora, load_policy, tiny_policy
from plaudit.training.model.policy import Policy
from plaudit.trajectory import Tokens, Trajectory

PROMPTS = [[4, 5, 6], [7, 8, 9, 10, 11]]
RESPONSES = [[5, 6, 1], [9, 8, 7, 6, 1]]


def plain_logprobs(policy: Policy, prompt: list[int], response: list[int]) -> torch.Tensor:
    """One sequence alone, through the model's own forward."""
    ids = torch.tensor([[*prompt, *response]])
    every = torch.log_softmax(policy.model(input_ids=ids).logits[0].float(), dim=-1)
    places = range(len(prompt) - 1, ids.shape[1] - 1)
    return torch.stack([every[place, token] for place, token in zip(places, response, strict=True)])


def doubled(policy: Policy) -> Policy:
    """The policy with every trained weight made larger."""
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)), alpha=0.1)
    return policy


@pytest.mark.parametrize("lora", [False, True], ids=["weights", "lora"])
def test_log_probabilities_and_gradients_are_those_of_transformers(lora):
    policy = tiny_policy(seed=1)
    policy = doubled(add_lora(policy, ModelConfig(lora_rank=2)) if lora else policy)
    got = policy.logprobs(policy.pack(PROMPTS, RESPONSES)).logprobs_B_T
    own = torch.autograd.grad(got.sum(), list(policy.parameters()))
    plain = [plain_logprobs(policy, *pair) for pair in zip(PROMPTS, RESPONSES, strict=True)]
    theirs = torch.autograd.grad(sum(each.sum() for each in plain), list(policy.parameters()))
    torch.testing.assert_close(got[0, :3], plain[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(got[1], plain[1], atol=1e-5, rtol=0)
    assert got[0, 3:].tolist() == [0.0, 0.0]
    for mine, other in zip(own, theirs, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-3)


def test_entropy_is_that_of_the_whole_distribution():
    policy = tiny_policy(seed=1)
    with torch.no_grad():
        policy.model.lm_head.weight.zero_()
    entropy = policy.logprobs(policy.pack(PROMPTS, RESPONSES)).entropy_B_T
    uniform = torch.tensor(float(len(policy.tokenizer))).log()
    torch.testing.assert_close(entropy[1], uniform.expand(5), atol=1e-5, rtol=0)
    assert not entropy.requires_grad


def test_a_batch_takes_tokens_as_they_were_drawn_and_keeps_their_mask():
    policy = tiny_policy(seed=1)
    drawn = Trajectory("12=", "34", tokens=Tokens(ids=[6, 7, 40, 1], mask=[1, 1, 0, 1]))
    told = Trajectory("12=", "34")
    batch = policy.batch([drawn, told])
    ids = policy.tokenizer("12=34")["input_ids"]
    assert batch.ids_B_L.tolist() == [[*ids[:3], 6, 7, 40, 1], [*ids, policy.tokenizer.eos_token_id, 0]]
    assert batch.mask_B_T.tolist() == [[1, 1, 0, 1], [1, 1, 1, 0]]


def test_a_part_of_a_batch_has_the_same_log_probabilities():
    policy = tiny_policy(seed=1)
    batch = policy.pack(PROMPTS, RESPONSES)
    part = batch.pick(torch.tensor([0]))
    assert part.ids_B_L.shape == (1, 6)
    whole = policy.logprobs(batch).logprobs_B_T[:1, :3]
    torch.testing.assert_close(policy.logprobs(part).logprobs_B_T, whole, atol=1e-5, rtol=0)


@pytest.mark.parametrize("lora", [False, True], ids=["weights", "lora"])
def test_a_reference_stays_unchanged(lora):
    policy = tiny_policy(seed=1)
    policy = add_lora(policy, ModelConfig(lora_rank=8)) if lora else policy
    batch = policy.pack(PROMPTS, RESPONSES)
    reference, before = policy.reference(), policy.logprobs(batch).logprobs_B_T.detach()
    doubled(policy)
    torch.testing.assert_close(reference.logprobs(batch).logprobs_B_T.detach(), before, atol=1e-5, rtol=0)
    assert (policy.logprobs(batch).logprobs_B_T - before).abs().max() > 0.01
    assert list(reference.parameters()) == []


def test_a_saved_policy_loads_as_the_same(tmp_path):
    policy = doubled(tiny_policy(seed=1))
    policy.save(tmp_path)
    assert (tmp_path / "model.safetensors").is_file()
    again = load_policy(tmp_path)
    batch = policy.pack(PROMPTS, RESPONSES)
    assert torch.equal(again.logprobs(batch).logprobs_B_T, policy.logprobs(batch).logprobs_B_T)
    settings = SamplingSettings(max_new_tokens=6, seed=1)
    prompt = "4 a\nB~="
    assert again.sampler(settings).sample(prompt, 4).texts == policy.sampler(settings).sample(prompt, 4).texts


def test_an_adapter_loads_on_top_of_its_model(tmp_path):
    tiny_policy(seed=1).save(tmp_path / "model")
    policy = doubled(add_lora(load_policy(tmp_path / "model"), ModelConfig(lora_rank=2)))
    policy.save(tmp_path / "adapter")
    assert not (tmp_path / "adapter" / "model.safetensors").exists()
    batch = policy.pack(PROMPTS, RESPONSES)
    again = load_policy(tmp_path / "adapter")
    assert torch.equal(again.logprobs(batch).logprobs_B_T, policy.logprobs(batch).logprobs_B_T)
    assert again.state().keys() == policy.state().keys()


def test_a_merged_policy_needs_no_adapter(tmp_path):
    policy = doubled(add_lora(tiny_policy(seed=1), ModelConfig(lora_rank=2)))
    policy.merge_adapters().save(tmp_path)
    batch = policy.pack(PROMPTS, RESPONSES)
    merged = load_policy(tmp_path)
    assert not merged.is_lora
    got = merged.logprobs(batch).logprobs_B_T
    torch.testing.assert_close(got, policy.logprobs(batch).logprobs_B_T, atol=1e-4, rtol=0)


def test_lora_trains_only_its_adapters():
    policy = add_lora(tiny_policy(seed=1), ModelConfig(lora_rank=2))
    assert all("lora_" in name for name in policy.state())
    assert len(policy.state()) == len(list(policy.parameters())) == 2 * 2 * 7


def test_a_state_restores_and_one_of_another_model_is_refused():
    policy = tiny_policy(seed=1)
    state = policy.state()
    doubled(policy)
    policy.restore(state)
    assert all(torch.equal(kept, state[name]) for name, kept in policy.state().items())
    with pytest.raises(PolicyError, match="of another model"):
        policy.restore(add_lora(tiny_policy(seed=1), ModelConfig(lora_rank=8)).state())


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tny", "no model 'tny' on this machine"),
        ("./nowhere", "there is no folder './nowhere'"),
        ("missing.gguf", "no model 'missing.gguf'"),
    ],
)
def test_the_error_for_a_missing_model_names_it(spec, words):
    with pytest.raises(InvalidSettings, match=words):
        load_policy(spec)


def test_a_folder_that_holds_no_model_is_an_error(tmp_path):
    with pytest.raises(InvalidSettings, match=r"is not a model: it has no config\.json"):
        load_policy(tmp_path)


def test_an_unknown_dtype_is_an_error():
    with pytest.raises(InvalidSettings, match="no dtype named 'bflot16'; did you mean 'bfloat16'"):
        load_policy("tiny", dtype="bflot16")


def test_the_tiny_model_is_tiny_and_repeatable():
    first, second, other = tiny_policy(seed=1), tiny_policy(seed=1), tiny_policy(seed=2)
    assert 130_000 < sum(parameter.numel() for parameter in first.parameters()) < 140_000
    weights = [policy.model.lm_head.weight for policy in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_making_a_model_leaves_the_global_random_numbers_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    add_lora(tiny_policy(seed=1), ModelConfig(lora_rank=8))
    assert torch.equal(torch.rand(1), expected)


def test_a_warm_start_lowers_the_loss_and_is_repeatable(sort_task):
    losses: list[float] = []
    settings = ModelConfig(warm_start_steps=6, warm_start_batch=16)
    last = warm_start(
        tiny_policy(), sort_task.demonstrations[:64], settings, on_step=lambda _, loss: losses.append(loss)
    )
    assert losses[-1] == last < losses[0]
    assert warm_start(tiny_policy(), sort_task.demonstrations[:64], settings) == last


def test_a_folder_of_the_same_name_does_not_hide_the_embedded_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").mkdir()
    assert load_policy("tiny", seed=1).state().keys() == tiny_policy(seed=1).state().keys()
    with pytest.raises(InvalidSettings, match=r"the folder '\./tiny' is not a model"):
        load_policy("./tiny")

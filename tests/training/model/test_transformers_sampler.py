"""Our own decoder draws what it would through Hugging Face `generate`, and says with which probability."""

import peft
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    Qwen2Config,
    Qwen3Config,
)  # fmt: skip

from plaudit.errors import DataError, InvalidSettings
from plaudit.training import SamplingSettings, TransformersSampler
from plaudit.training.config.schema import ModelConfig
from plaudit.training.model.loading import add_lora, character_tokenizer, tiny_policy
from plaudit.training.model.policy import Policy
from plaudit.trajectory import Trajectory

PROMPTS = ["12=", "4321=", "9=", "776655443322110="]
SETTINGS = {
    "plain": SamplingSettings(max_new_tokens=12, seed=5),
    "cooled and cut": SamplingSettings(max_new_tokens=12, seed=6, temperature=0.7, top_k=10, top_p=0.9),
    "hot": SamplingSettings(max_new_tokens=12, seed=7, temperature=1.7),
    "greedy": SamplingSettings(max_new_tokens=12, temperature=0.0),
    "cut by the likeliest": SamplingSettings(max_new_tokens=12, seed=9, temperature=1.5, top_p=0.95, min_p=0.2),
    "stop text": SamplingSettings(max_new_tokens=12, seed=8, stop=("22", "7")),
}
SIZES = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64, "initializer_range": 0.3, "bos_token_id": None,
}  # fmt: skip
FAMILIES = {
    "llama": LlamaConfig(**SIZES, attention_bias=True),
    "llama with scaled positions": LlamaConfig(
        **SIZES, rope_parameters={"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0}
    ),
    "qwen2": Qwen2Config(**SIZES, tie_word_embeddings=True),
    "qwen3": Qwen3Config(**SIZES, head_dim=16),
}


def fresh(config) -> Policy:
    """A random model of a family; large weights make its draws anything but uniform."""
    tokenizer = character_tokenizer()
    config.vocab_size, config.eos_token_id, config.pad_token_id = len(tokenizer), tokenizer.eos_token_id, 0
    torch.manual_seed(0)
    return Policy(AutoModelForCausalLM.from_config(config), tokenizer)


def with_generate(policy: Policy) -> TransformersSampler:
    return TransformersSampler(policy.model, policy.tokenizer, own_decoder=False)


def ids_of(sampled) -> list[list[int]]:
    return [trajectory.tokens.ids for trajectory in sampled.trajectories]


def logprobs_of(sampled) -> torch.Tensor:
    return torch.tensor([value for trajectory in sampled.trajectories for value in trajectory.tokens.logprobs])


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_the_same_seed_draws_the_same_tokens_as_generate(warm_policy, settings):
    ours = warm_policy.sampler().sample(PROMPTS, 6, settings=settings)
    theirs = with_generate(warm_policy).sample(PROMPTS, 6, settings=settings)
    assert ids_of(ours) == ids_of(theirs)
    assert ours.texts == theirs.texts
    assert [each.metadata for each in ours.trajectories] == [each.metadata for each in theirs.trajectories]
    torch.testing.assert_close(logprobs_of(ours), logprobs_of(theirs), atol=2e-5, rtol=0)


@pytest.mark.parametrize("config", FAMILIES.values(), ids=FAMILIES.keys())
def test_every_family_draws_the_same_tokens_as_generate(config):
    policy = fresh(config)
    sampler = policy.sampler(SamplingSettings(max_new_tokens=20, seed=3))
    assert sampler.fallback_reason is None
    ours = sampler.sample(PROMPTS, 4)
    assert ids_of(ours) == ids_of(with_generate(policy).sample(PROMPTS, 4, settings=sampler.settings))
    assert len({tuple(ids) for ids in ids_of(ours)}) > 4


def test_a_call_to_generate_itself_finds_the_same_likeliest_tokens(warm_policy):
    """Not through our fallback: with transformers' own interface. Draws are compared in test_drawing.py."""
    encoded = warm_policy.tokenizer(["4321=", "9876="], return_tensors="pt")
    found = warm_policy.model.generate(
        input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], do_sample=False, max_new_tokens=6
    )
    theirs = warm_policy.tokenizer.batch_decode(found[:, 5:], skip_special_tokens=True)
    settings = SamplingSettings(max_new_tokens=6, temperature=0)
    assert warm_policy.sampler().sample(["4321=", "9876="], settings=settings).texts == theirs


def test_log_probabilities_of_cut_draws_stay_the_models_own(warm_policy):
    settings = SamplingSettings(max_new_tokens=5, seed=2, min_p=0.05)
    for sampler in (warm_policy.sampler(), with_generate(warm_policy)):
        sampled = sampler.sample(["4321=", "9="], 6, settings=settings)
        batch = warm_policy.batch(sampled)
        told = warm_policy.logprobs(batch).logprobs_B_T[batch.mask_B_T.bool()]
        torch.testing.assert_close(logprobs_of(sampled), told.detach(), atol=2e-5, rtol=0)


def test_any_other_family_is_sampled_with_generate():
    policy = fresh(GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=64, bos_token_id=None))
    sampler = policy.sampler(SamplingSettings(max_new_tokens=8, seed=1))
    assert "gpt2" in sampler.fallback_reason
    sampled = sampler.sample(PROMPTS[:2], 3)
    batch = policy.batch(sampled)
    told = policy.logprobs(batch).logprobs_B_T[batch.mask_B_T.bool()]
    torch.testing.assert_close(logprobs_of(sampled), told.detach(), atol=2e-5, rtol=0)


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_log_probabilities_are_those_of_the_policy_at_that_temperature(warm_policy, temperature):
    settings = SamplingSettings(max_new_tokens=6, temperature=temperature, top_k=5, seed=2)
    sampled = warm_policy.sampler().sample(PROMPTS, 8, settings=settings)
    batch = warm_policy.batch(sampled)
    told = warm_policy.logprobs(batch, temperature=temperature).logprobs_B_T[batch.mask_B_T.bool()]
    torch.testing.assert_close(logprobs_of(sampled), told.detach(), atol=2e-5, rtol=0)


def test_a_lora_policy_is_sampled_with_its_adapters():
    policy = add_lora(tiny_policy(seed=1), ModelConfig(lora_rank=2))
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.normal_(std=0.3)
    sampler = policy.sampler(SamplingSettings(max_new_tokens=8, seed=4))
    assert sampler.fallback_reason is None
    sampled = sampler.sample(PROMPTS, 3)
    assert ids_of(sampled) == ids_of(with_generate(policy).sample(PROMPTS, 3, settings=sampler.settings))
    assert ids_of(sampled) != ids_of(tiny_policy(seed=1).sampler(sampler.settings).sample(PROMPTS, 3))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"use_dora": True}, "its adapter 'default' is a variant of LoRA"),
        ({"target_modules": ["embed_tokens"]}, "its embedding is a Embedding"),
    ],
    ids=["dora", "embedding"],
)
def test_adapters_that_are_more_than_a_product_are_sampled_with_generate(options, words):
    config = peft.LoraConfig(r=2, **{"target_modules": ["q_proj"], **options})
    policy = tiny_policy(seed=1)
    policy = Policy(peft.get_peft_model(policy.model, config), policy.tokenizer)
    assert words in policy.sampler().fallback_reason


def test_an_update_of_the_model_reaches_the_next_sample(warm_policy):
    policy = tiny_policy(seed=2)
    sampler = policy.sampler(SamplingSettings(max_new_tokens=5, temperature=0))
    before = sampler.sample(PROMPTS)
    policy.restore(warm_policy.state())
    assert ids_of(sampler.sample(PROMPTS)) != ids_of(before)
    assert ids_of(sampler.sample(PROMPTS)) == ids_of(warm_policy.sampler(sampler.settings).sample(PROMPTS))


def test_a_sampler_continues_where_its_generator_stopped(warm_policy):
    settings = SamplingSettings(max_new_tokens=6)
    first = warm_policy.sampler(settings, generator=torch.Generator().manual_seed(3))
    kept = [first.sample(PROMPTS, 4).texts, first.generator.get_state(), first.sample(PROMPTS, 4).texts]
    second = warm_policy.sampler(settings, generator=torch.Generator())
    second.generator.set_state(kept[1])
    assert second.sample(PROMPTS, 4).texts == kept[2] != kept[0]


def test_a_sample_with_a_seed_leaves_the_stream_of_numbers_alone(warm_policy):
    sampler = warm_policy.sampler(SamplingSettings(max_new_tokens=6))
    state = sampler.generator.get_state()
    for each in (sampler, with_generate(warm_policy)):
        each.sample(PROMPTS, settings=SamplingSettings(max_new_tokens=6, seed=1))
    assert torch.equal(sampler.generator.get_state(), state)


def test_samples_of_a_prompt_are_a_group_and_keep_what_the_row_carries(warm_policy):
    rows = [
        Trajectory("21=", "", ground_truth="12", id="a", columns={"level": 3}, metadata={"from": "here"}),
        Trajectory("43=", "", ground_truth="34"),
    ]
    sampled = warm_policy.sampler(SamplingSettings(max_new_tokens=4, seed=1)).sample(rows, num_samples=3)
    assert [each.group for each in sampled.trajectories] == ["a", "a", "a", 1, 1, 1]
    assert sampled.ground_truths == ["12"] * 3 + ["34"] * 3
    first = sampled.trajectories[0]
    assert (first.columns, first.metadata["from"], first.id) == ({"level": 3}, "here", None)
    assert [each.tokens.chosen for each in sampled.trajectories] == [len(ids) for ids in ids_of(sampled)]
    assert sampled.prompt_ids[0] == warm_policy.tokenizer("21=")["input_ids"]


def test_a_response_that_was_not_cut_keeps_its_end_token(warm_policy):
    sampled = warm_policy.sampler(SamplingSettings(max_new_tokens=12, seed=1)).sample(PROMPTS, 20)
    end = warm_policy.tokenizer.eos_token_id
    for trajectory in sampled.trajectories:
        ids = trajectory.tokens.ids
        ended = trajectory.metadata["finish_reason"] == "stop"
        assert (ids[-1] == end) == ended
        assert end not in ids[:-1]
        assert ended or len(ids) == 12
    assert {each.metadata["finish_reason"] for each in sampled.trajectories} == {"stop", "length"}


@pytest.mark.parametrize("generate", [False, True], ids=["own decoder", "generate"])
def test_a_prompt_beyond_the_context_is_named(warm_policy, generate):
    sampler = with_generate(warm_policy) if generate else warm_policy.sampler()
    with pytest.raises(DataError, match=r"prompt 1 is too long: 250 tokens and 10 new ones make 260.* context is 256"):
        sampler.sample(["1=", "1" * 250], settings=SamplingSettings(max_new_tokens=10))


def test_no_prompts_give_no_samples(warm_policy):
    assert len(warm_policy.sampler().sample([])) == 0


def test_a_prompt_without_tokens_is_an_error(warm_policy):
    with pytest.raises(DataError, match="prompt 1 has no tokens"):
        warm_policy.sampler().sample(["1=", ""])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"temperature": -1.0}, "temperature: expected float >= 0.0"),
        ({"temperature": float("nan")}, "temperature: expected float >= 0.0"),
        ({"top_p": 0.0}, "top_p: expected float > 0.0"),
        ({"top_k": -1}, "top_k: expected int >= 0"),
        ({"max_new_tokens": 0}, "max_new_tokens: expected int >= 1"),
        ({"stop": ("",)}, "stop must be texts"),
    ],
    ids=lambda value: str(value),
)
def test_settings_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(InvalidSettings, match=words):
        SamplingSettings(**wrong)


def test_no_samples_at_all_is_refused(warm_policy):
    with pytest.raises(InvalidSettings, match="num_samples must be at least 1, got 0"):
        warm_policy.sampler().sample(PROMPTS, 0)


@pytest.mark.parametrize("own_decoder", [True, False])
@pytest.mark.parametrize(
    "settings",
    [SamplingSettings(6), SamplingSettings(6, temperature=0.0), SamplingSettings(6, top_p=0.9)],
    ids=["plain", "greedy", "cut"],
)
def test_with_seeds_the_tokens_of_a_context_do_not_depend_on_its_batch(own_decoder, settings):
    sampler = tiny_policy(seed=3).sampler(settings)
    sampler.fallback_reason = None if own_decoder else "asked for"
    contexts = [list(range(5, 8 + size)) for size in range(12)]
    seeds = [100 + place for place in range(12)]
    together = [action.ids for action in sampler.continue_from(contexts, settings, seeds=seeds)]
    backwards = [action.ids for action in sampler.continue_from(contexts[::-1], settings, seeds=seeds[::-1])]
    assert together == backwards[::-1]
    if settings.temperature:
        others = [action.ids for action in sampler.continue_from(contexts, settings, seeds=[7] * 12)]
        assert others != together

"""A GGUF file is unpacked once; after that, the kept copy gives the same model."""

import shutil

import gguf
import numpy as np
import pytest
import torch
from huggingface_hub import constants
from tokenizers.pre_tokenizers import ByteLevel

from plaudit.models import locating
from plaudit.training import SamplingSettings
from plaudit.training.model.loading import load_policy

WIDTH, INNER, HEADS = 32, 64, 4


@pytest.fixture
def tiny_file(tmp_path, monkeypatch):
    """A Llama of one layer as llama.cpp writes it, with an empty place to keep what is unpacked."""
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "home"))
    path = tmp_path / "tiny.gguf"
    tokens = [*sorted(ByteLevel.alphabet()), "ab", "<|end|>"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - 1) + [3])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(len(tokens) - 1)
    numbers = np.random.default_rng(1)
    shapes = {"token_embd": (len(tokens), WIDTH), "output": (len(tokens), WIDTH), "output_norm": (WIDTH,)}
    shapes |= {f"blk.0.{name}": (WIDTH, WIDTH) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
    shapes |= {"blk.0.ffn_gate": (INNER, WIDTH), "blk.0.ffn_up": (INNER, WIDTH), "blk.0.ffn_down": (WIDTH, INNER)}
    shapes |= {"blk.0.attn_norm": (WIDTH,), "blk.0.ffn_norm": (WIDTH,)}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", numbers.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def drawn(policy):
    return policy.sampler(SamplingSettings(max_new_tokens=8, seed=1)).sample("hello", 4).texts


def test_the_kept_copy_is_the_model_that_was_unpacked(tiny_file, tmp_path, monkeypatch):
    first = load_policy(tiny_file)
    assert len(list((tmp_path / "home" / "plaudit").iterdir())) == 1
    monkeypatch.setattr(locating, "unpack", None)
    again, half = load_policy(tiny_file), load_policy(tiny_file, dtype="bfloat16")
    assert all(torch.equal(weight, again.state()[name]) for name, weight in first.state().items())
    assert drawn(first) == drawn(again)
    assert first.model.name_or_path == again.model.name_or_path == str(tiny_file)
    assert half.model.dtype == torch.bfloat16


def test_a_copy_shares_what_was_unpacked_and_a_file_that_changed_does_not(tiny_file, tmp_path):
    before = locating.unpacked_folder(tiny_file)
    (tmp_path / "other").mkdir()
    assert locating.unpacked_folder(shutil.copy(tiny_file, tmp_path / "other" / tiny_file.name)) == before
    with tiny_file.open("ab") as file:
        file.write(b"more")
    assert locating.unpacked_folder(tiny_file) != before


def test_the_model_is_loaded_if_the_cache_cannot_be_written(tiny_file, tmp_path):
    (tmp_path / "home").write_text("a file where a folder should be")
    assert len(drawn(load_policy(tiny_file))) == 4

"""The policy and what it computes with: loading, encoding, the decoder."""

from plaudit.errors import require

require("torch", extra="train", purpose="training")
require("transformers", extra="train", purpose="training")

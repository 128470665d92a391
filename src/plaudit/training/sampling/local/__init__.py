"""Sample from a model in this process."""

from plaudit.errors import require

require("torch", extra="train", purpose="sampling from a model")
require("transformers", extra="train", purpose="sampling from a model")

"""The policy and what it computes with: loading, encoding, the decoder."""

from plaudit.errors import require
from plaudit.models.cpu_precision import import_torch

import_torch(extra="train", purpose="training")
require("transformers", extra="train", purpose="training")

"""Sample from a model in this process."""

from plaudit.errors import require
from plaudit.models.cpu_precision import import_torch

import_torch(extra="train", purpose="sampling from a model")
require("transformers", extra="train", purpose="sampling from a model")

"""From advantages to better weights: losses, updates, the critic, the supervised beginning."""

from plaudit.models.cpu_precision import import_torch

import_torch(extra="train", purpose="training")

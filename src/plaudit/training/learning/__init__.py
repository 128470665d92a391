"""From advantages to better weights: losses, updates, the critic, the supervised beginning."""

from plaudit.errors import require

require("torch", extra="train", purpose="training")

"""An SQLite cache of scores, keyed by the content of the reward and the sample."""

"""Batches to learn from: sampled, scored, filtered, prefetched; responses or whole episodes."""

"""All hacks and controls of `plaudit.hacks`, measured: audits before training, onsets, warnings of `watch`."""

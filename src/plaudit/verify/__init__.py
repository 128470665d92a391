"""Is this right? Pure functions on text that know no reward: numbers, templates, tags, structure, programs, math."""

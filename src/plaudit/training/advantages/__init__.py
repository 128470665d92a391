"""From rewards to advantages: where a reward was earned, and how much better that is than expected. No torch here."""

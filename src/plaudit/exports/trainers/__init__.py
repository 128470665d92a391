"""How trainers call exported rewards: one file per trainer."""

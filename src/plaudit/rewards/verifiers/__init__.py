"""Verifiers as rewards: `kinds` has one class for each, `auto` chooses by the columns of a row."""

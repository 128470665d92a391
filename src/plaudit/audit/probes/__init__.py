"""Checks that need no attack: the contract, the deadline, right answers that are refused, groups of copies."""

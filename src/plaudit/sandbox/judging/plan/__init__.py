"""Test plans: a suite parsed and analysed once, before any program runs."""

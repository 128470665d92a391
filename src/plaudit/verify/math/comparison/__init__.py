"""Comparison of single values, lists, matrices, sets of numbers and relations."""

"""Attacks on rewards for qualities other than being right: form, length, words, relevance, conduct over turns."""

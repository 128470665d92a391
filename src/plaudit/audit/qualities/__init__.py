"""Contrasts for rewards of qualities other than being right: form, length, words, relevance, conduct over turns."""

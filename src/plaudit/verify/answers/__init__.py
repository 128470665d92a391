"""Verifiers of answers to questions: multiple choice, labels, short texts, quantities."""

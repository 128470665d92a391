"""Verifiers of solutions to puzzles: each checks the rules of the puzzle, not one stored solution."""

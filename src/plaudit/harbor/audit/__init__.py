"""Attack the verifier of a task, and test it with mutants and rewritings of its solution."""

"""Systems that score episodes, answers and samples of evaluations: one file each."""

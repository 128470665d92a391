"""Systems that train: one file each."""

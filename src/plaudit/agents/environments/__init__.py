"""Built-in environments, one file each; `catalog` has them by name."""

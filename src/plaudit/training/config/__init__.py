"""All settings of a run, and how they are read from YAML and the command line."""

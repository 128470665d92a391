"""Everything a run can be told, and how it is read from YAML and the command line."""

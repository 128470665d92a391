"""Training engines: where a config trains, in plaudit's own loop or in TRL's."""

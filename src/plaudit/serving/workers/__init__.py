"""Worker processes of a server: forked from a template, killed past a deadline, replaced."""

"""Tables of cases: read, run, and collected by pytest."""

"""Numbers and functions compared exactly: fractions, residues modulo a prime, floats and discs with proven error."""

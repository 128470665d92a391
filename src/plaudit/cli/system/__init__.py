"""Commands that look at one answer, one program, or this machine."""

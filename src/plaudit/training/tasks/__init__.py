"""Tasks that come with plaudit, small enough for the embedded model."""

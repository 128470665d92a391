"""The version of plaudit."""

__version__ = "0.1.0"

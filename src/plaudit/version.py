"""The version of plaudit."""

__all__ = ["__version__"]

__version__ = "0.1.0"

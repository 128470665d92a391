"""What stands for the program's functions, objects and exceptions in the tests."""

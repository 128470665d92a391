"""What represents the program in the tests: handles of its functions and objects, its exceptions, its numbers."""

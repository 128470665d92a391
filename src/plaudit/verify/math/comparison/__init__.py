"""What is compared with what: single values, lists, matrices, sets of numbers, relations."""

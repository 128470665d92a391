from .reading import grader_from_file as grader_from_file

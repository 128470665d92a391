"""How tests of each style are judged: asserts, calls, standard streams, test files, made-up inputs."""

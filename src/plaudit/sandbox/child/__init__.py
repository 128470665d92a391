"""Code of the server and of programs' processes; imports nothing of plaudit but itself and `values`."""

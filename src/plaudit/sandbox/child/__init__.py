"""What runs in the server and in programs' processes; imports nothing of plaudit but itself and `values`."""

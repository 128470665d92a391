"""What runs in the server and in candidates' processes; imports nothing of plaudit but itself and `values`."""

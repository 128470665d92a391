"""Supervised worker processes: start, handshake, frames, progress, deadlines, kill, requeue, replace, reap."""

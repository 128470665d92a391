"""What a server does with a request: who may ask, how much at once, in which order, and what is counted."""

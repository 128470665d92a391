"""The worker processes of a server: what they do, and how the server's event loop drives them."""

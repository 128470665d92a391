"""HTTP/1.1 on asyncio: connections, requests, responses, addresses."""

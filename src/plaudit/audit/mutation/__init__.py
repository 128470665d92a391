"""Is a case table strong enough? Change the reward in small ways and see whether a case notices."""

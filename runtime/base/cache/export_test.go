package cache

// Len returns the number of entries, including expired ones.
func Len[K comparable, V any](c *Cache[K, V]) int {
	c.entries.mu.Lock()
	defer c.entries.mu.Unlock()
	return c.entries.lru.Len()
}

// Weight returns the weight of all entries.
func Weight[K comparable, V any](c *Cache[K, V]) int {
	c.entries.mu.Lock()
	defer c.entries.mu.Unlock()
	return c.entries.weight
}

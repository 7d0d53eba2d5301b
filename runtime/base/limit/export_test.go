package limit

// Entries returns how many keys are remembered.
func (k *Keyed[K]) Entries() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.keys)
}

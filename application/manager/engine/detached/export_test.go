package detached

// Waiting is how many attempts wait for a transaction that issues their tokens,
// and has not begun.
func (i *Issuer) Waiting() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.open == nil {
		return 0
	}
	return len(i.open.runs)
}

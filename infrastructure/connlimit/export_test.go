package connlimit

// Idle is how many connections of strangers wait for a request.
func (l *Listener) Idle() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.idle.Len()
}

// Sending is how many connections of strangers send a request.
func (l *Listener) Sending() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.sending.Len()
}

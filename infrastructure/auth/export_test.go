package auth

// Occupy takes a place until the returned function is called.
func (a *Argon2) Occupy() func() {
	a.slots <- struct{}{}
	return func() { <-a.slots }
}

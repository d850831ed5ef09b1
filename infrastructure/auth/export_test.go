package auth

// Occupy takes a place until the returned function is called.
func (a *Argon2) Occupy() func() {
	a.places <- struct{}{}
	return func() { <-a.places }
}

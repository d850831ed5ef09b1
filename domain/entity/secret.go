package entity

import "time"

// Secret is a named value that definitions may use and nobody can read back.
type Secret struct {
	// Name is 1–50 letters, digits, dots, dashes and underscores.
	Name        string
	Description string
	// KeyID tells which key Sealed was made with; Sealed is the value under it.
	KeyID  string
	Sealed []byte
	// Version counts the values that the secret has had.
	Version    int
	CreateTime time.Time
	UpdateTime time.Time
}

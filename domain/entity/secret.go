package entity

import (
	"slices"
	"time"
)

// Secret is a named value that definitions may use and nobody can read back.
type Secret struct {
	// Name is 1–50 letters, digits, dots, dashes and underscores.
	Name        string
	Description string
	// Groups are those whose jobs may use it, sorted; nil is every group.
	Groups []string
	// KeyID tells which key Sealed was made with; Sealed is the value under it.
	KeyID  string
	Sealed []byte
	// Version counts the edits.
	Version    int
	CreateTime time.Time
	UpdateTime time.Time
}

// For reports whether the jobs of a group may use the secret.
func (s Secret) For(group string) bool { return s.Groups == nil || slices.Contains(s.Groups, group) }

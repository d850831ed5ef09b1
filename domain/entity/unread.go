package entity

import "strings"

// Unread is a stored value that this program cannot read.
type Unread struct {
	// Field is its column.
	Field string
	Why   string
}

// Unreadable says what of the stored job cannot be read; empty is nothing.
func (j *Job) Unreadable() string { return Describe(j.Unread) }

// Describe says for people what cannot be read; nothing is empty.
func Describe(unread []Unread) string {
	parts := make([]string, len(unread))
	for i, u := range unread {
		parts[i] = u.Field + ": " + u.Why
	}
	return strings.Join(parts, "; ")
}

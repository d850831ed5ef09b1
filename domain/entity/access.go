package entity

import "time"

// Principal is who calls: a user, by a session or by an API token.
type Principal struct {
	User User
	// TokenID and TokenName are those of the API token; empty for a session.
	TokenID   string
	TokenName string
	// Scopes narrow what the user may do; nil does not.
	Scopes []string
}

// Actor is how runs and histories name who did something. The zero value is
// nobody: the schedule did it.
type Actor struct {
	// User is the name of the user, Token that of the API token that spoke for
	// the user, if one did.
	User  string
	Token string
}

// Actor is who calls, by name.
func (p Principal) Actor() Actor { return Actor{User: p.User.Name, Token: p.TokenName} }

// Token is an API token; only its hash is kept.
type Token struct {
	ID     string
	UserID string
	// UserName is filled in lists.
	UserName string
	Name     string
	Hash     string
	// Scopes are permissions; nil is all that its owner holds.
	Scopes    []string
	ExpiresAt time.Time
	// LastUsedAt is exact to a minute; zero: never.
	LastUsedAt time.Time
	CreateTime time.Time
}

// AuditEntry is one row of the audit log. It is never changed.
type AuditEntry struct {
	ID       string
	Time     time.Time
	UserID   string
	UserName string
	TokenID  string
	Address  string
	// RequestID finds the call in the log of the server.
	RequestID string
	// Action is the method and the route; Object what it was about, by its id, and
	// ObjectName by its name.
	Action     string
	Object     string
	ObjectName string
	// Status is the HTTP status, Code the code of the problem, if it was one.
	Status int
	Code   string
	// Changes is a JSON object of fields with their values before and after.
	Changes string
	// Calls is how many equal calls the entry stands for, from 1.
	Calls int
	// Parts are the objects of a call that treated several. The log keeps an entry of each beside that
	// of the call, with its request id, so that it is found by its object. Entries that are read have none.
	Parts []AuditPart
}

// AuditPart is what a call did to one of several objects.
type AuditPart struct {
	// Object is the id, ObjectName the name.
	Object, ObjectName string
	// Changes is as in AuditEntry.
	Changes string
}

// Package access keeps who may do what, and what was done: users and sessions,
// API tokens, secrets, the audit log and idempotent calls.
package access

import (
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Tables are the repositories of who may do what, and of what was done.
// Safe for concurrent use.
type Tables struct {
	*Users
	*Secrets
	*Tokens
	*Audit
	*IdempotentCalls
}

// NewTables gives the repositories over the connections of s.
func NewTables(s *sqldb.Core) *Tables {
	return &Tables{
		Users: &Users{s}, Secrets: &Secrets{s}, Tokens: &Tokens{s}, Audit: &Audit{s, newAuditQueue()},
		IdempotentCalls: &IdempotentCalls{s},
	}
}

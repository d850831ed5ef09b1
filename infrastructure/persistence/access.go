package persistence

// AccessTables are the repositories of who may do what, and of what was done.
// Safe for concurrent use.
type AccessTables struct {
	*Users
	*Secrets
	*Tokens
	*Audit
	*IdempotentCalls
}

// NewAccessTables gives the repositories over the connections of s.
func NewAccessTables(s *core) *AccessTables {
	return &AccessTables{Users: &Users{s}, Secrets: &Secrets{s}, Tokens: &Tokens{s}, Audit: &Audit{s, newAuditQueue()}, IdempotentCalls: &IdempotentCalls{s}}
}

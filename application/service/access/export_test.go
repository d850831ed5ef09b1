package access

// GuardSize is the number of accounts and addresses remembered.
func (s *AuthService) GuardSize() int { return len(s.guard.byName) }

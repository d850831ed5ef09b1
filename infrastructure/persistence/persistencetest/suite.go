// Package persistencetest is the contract of the store: what both SQLite and
// MySQL/MariaDB must do. The engine is built on nothing else.
package persistencetest

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// Opener gives a test a fresh, empty store that closes at the test's end.
// adjust changes its configuration before it opens; it may be nil.
type Opener func(t *testing.T, adjust func(*persistence.Config)) *persistence.Store

// Run runs the whole contract.
func Run(t *testing.T, open Opener) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, open Opener)
	}{
		{"jobs", testJobs},
		{"planning", testPlanning},
		{"executions", testExecutions},
		{"claims", testClaims},
		{"queues", testQueues},
		{"finishing", testFinishing},
		{"lists", testLists},
		{"counts", testCounts},
		{"live fires", testInFlightFires},
		{"records", testRecords},
		{"run tokens", testRunTokens},
		{"nodes", testNodes},
		{"abilities of nodes", testAbilities},
		{"forgotten nodes", testForgetting},
		{"marks of nodes", testMarks},
		{"users", testUsers},
		{"groups", testGroups},
		{"places of groups", testPlaces},
		{"pauses", testPauses},
		{"backfills", testBackfills},
		{"secrets", testSecrets},
		{"access", testAccess},
		{"idempotency", testIdempotency},
		{"retention", testRetention},
		{"retention of jobs", testJobRetention},
		{"transactions", testTransactions},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

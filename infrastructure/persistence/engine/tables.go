// Package engine keeps what the engine works with: jobs, executions, live fires,
// groups, backfills, records, locks and the registry of nodes. Batched SQL carries
// the hot path. One transaction writes many of these tables together, see NewTx;
// hence they are one package.
package engine

import (
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Tables are the repositories of the engine, outside of transactions; for
// those inside of one see NewTx. Safe for concurrent use.
type Tables struct {
	Jobs       *Jobs
	Executions *Executions
	Locks      *Locks
	*Plans
	*Claims
	*Tallies
	*Records
	*RunTokens
	*Outbox
	*Nodes
	*Groups
	*Backfills
	*Retention
}

// NewTables gives the repositories over the connections of s; locks and registry
// ask over those of aside.
func NewTables(s, aside *sqldb.Core) *Tables {
	return &Tables{
		Jobs: &Jobs{s.Pool}, Executions: &Executions{s.Pool}, Locks: &Locks{aside}, Plans: &Plans{s.Pool}, Claims: &Claims{s.Pool},
		Tallies: &Tallies{s.Pool}, Records: &Records{s.Pool}, RunTokens: &RunTokens{s.Pool}, Outbox: &Outbox{s}, Nodes: &Nodes{s: aside},
		Groups: &Groups{s}, Backfills: &Backfills{s.Pool}, Retention: &Retention{s: s},
	}
}

package persistence

// EngineTables are the repositories of the engine, outside of transactions; for
// those inside of one see NewTx. Safe for concurrent use.
type EngineTables struct {
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

// NewEngineTables gives the repositories over the connections of s; locks and registry
// ask over those of aside.
func NewEngineTables(s, aside *core) *EngineTables {
	return &EngineTables{
		Jobs: &Jobs{s.read}, Executions: &Executions{s.read}, Locks: &Locks{aside}, Plans: &Plans{s.read}, Claims: &Claims{s.read},
		Tallies: &Tallies{s.read}, Records: &Records{s.read}, RunTokens: &RunTokens{s.read}, Outbox: &Outbox{s}, Nodes: &Nodes{s: aside},
		Groups: &Groups{s}, Backfills: &Backfills{s.read}, Retention: &Retention{s: s},
	}
}

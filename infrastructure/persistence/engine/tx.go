package engine

import (
	"github.com/platform-scheduler/platform-scheduler/domain/repository"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// NewTx gives the repositories of one transaction, whose statements run on c.
func NewTx(c *sqldb.Conn) repository.Tx {
	return repository.Tx{
		Jobs:       &jobWriter{c},
		Executions: &executionWriter{c},
		LiveFires:  &liveFireWriter{c},
		Records:    &recordWriter{c},
		RunTokens:  &runTokenWriter{RunTokens{c}},
		Groups:     &groupWriter{c},
		Backfills:  &backfillWriter{c},
		Nodes:      &nodeReader{c},
	}
}

package persistence

import "github.com/platform-scheduler/platform-scheduler/domain/repository"

// NewTx gives the repositories of one transaction, whose statements run on c.
func NewTx(c *conn) repository.Tx {
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

package engine

import (
	"github.com/platform-scheduler/platform-scheduler/domain/repository"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/approval"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/chain"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/group"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/inflight"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/job"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/record"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/todo"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/worker"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// NewTx gives the repositories of one transaction, whose statements run on c.
func NewTx(c *sqldb.Conn) repository.Tx {
	return repository.Tx{
		Jobs:          job.NewWriter(c),
		Executions:    execution.NewWriter(c),
		InFlightFires: inflight.NewWriter(c),
		Records:       record.NewWriter(c),
		RunTokens:     record.NewRunTokenWriter(c),
		Groups:        group.NewWriter(c),
		WorkerGroups:  worker.NewHolder(c),
		Workers:       worker.NewLister(c),
		Backfills:     backfill.NewWriter(c),
		Todos:         todo.NewWriter(c),
		WorkflowRuns:  workflowrun.NewWriter(c),
		Chains:        chain.NewWriter(c),
		Approvals:     approval.NewWriter(c),
		Nodes:         registry.NewNodeReader(c),
	}
}

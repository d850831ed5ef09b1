// Package engine puts the tables of the engine together: the repositories of one
// transaction, and those outside of one.
package engine

import (
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/approval"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/chain"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/group"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/inflight"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/job"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/record"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/retention"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/todo"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/worker"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Tables are the repositories of the engine, outside of transactions; for
// those inside of one see NewTx. Safe for concurrent use.
type Tables struct {
	Jobs       *job.Jobs
	Executions *execution.Executions
	Locks      *registry.Locks
	*job.Plans
	*execution.Claims
	*Counts
	*inflight.Fires
	*record.Records
	*record.RunTokens
	*record.Outbox
	*record.Asides
	*registry.Nodes
	*registry.StoreStates
	*group.Groups
	*backfill.Backfills
	*retention.Retention
	*todo.Owed
	*workflowrun.Runs
	*chain.Chains
	*approval.Approvals
	*worker.Workers
	WorkerGroups *worker.Groups
}

// NewTables gives the repositories over the connections of s; locks and registry
// ask over those of aside.
func NewTables(s, aside *sqldb.Core) *Tables {
	return &Tables{
		Jobs:         job.NewJobs(s.Pool),
		Executions:   execution.NewExecutions(s.Pool),
		Locks:        registry.NewLocks(aside),
		Plans:        job.NewPlans(s.Pool),
		Claims:       execution.NewClaims(s.Pool),
		Counts:       NewCounts(s.Pool),
		Fires:        inflight.NewFires(s.Pool),
		Records:      record.NewRecords(s.Pool),
		RunTokens:    record.NewRunTokens(s.Pool),
		Outbox:       record.NewOutbox(s),
		Asides:       record.NewAsides(s.Pool),
		Nodes:        registry.NewNodes(aside),
		StoreStates:  registry.NewStoreStates(aside),
		Groups:       group.NewGroups(s),
		Backfills:    backfill.NewBackfills(s.Pool),
		Retention:    retention.New(s),
		Owed:         todo.New(s.Pool),
		Runs:         workflowrun.New(s.Pool),
		Chains:       chain.New(s.Pool),
		Approvals:    approval.New(s.Pool),
		Workers:      worker.NewWorkers(s, aside),
		WorkerGroups: worker.NewGroups(s),
	}
}

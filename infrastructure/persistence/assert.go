package persistence

import (
	"github.com/platform-scheduler/platform-scheduler/domain/repository"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/job"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/worker"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/monitoring"
)

// The store keeps every promise of the domain.
var (
	_ repository.Store           = (*Store)(nil)
	_ repository.TimeSource      = (*Store)(nil)
	_ repository.JobPlanReader   = (*Store)(nil)
	_ repository.ScheduleReader  = (*Store)(nil)
	_ repository.ClaimReader     = (*Store)(nil)
	_ repository.Counts          = (*Store)(nil)
	_ repository.RecordReader    = (*Store)(nil)
	_ repository.RunTokenReader  = (*Store)(nil)
	_ repository.Outbox          = (*Store)(nil)
	_ repository.Asides          = (*Store)(nil)
	_ repository.Nodes           = (*Store)(nil)
	_ repository.NodeTroubles    = (*Store)(nil)
	_ repository.StoreStates     = (*Store)(nil)
	_ repository.Users           = (*Store)(nil)
	_ repository.Sessions        = (*Store)(nil)
	_ repository.IdempotentCalls = (*Store)(nil)
	_ repository.Retention       = (*Store)(nil)
	_ repository.Alerts          = (*Store)(nil)
	_ repository.AlertSettings   = (*Store)(nil)
	_ repository.RuleSuspensions = (*Store)(nil)
	_ repository.Notifications   = (*Store)(nil)
	_ repository.JobReader       = (*job.Jobs)(nil)
	_ repository.Definitions     = (*job.Jobs)(nil)
	_ repository.Workers         = (*Store)(nil)
	_ repository.WorkerGroups    = (*worker.Groups)(nil)
	_ repository.ApprovalReader  = (*Store)(nil)
	_ repository.Locker          = (*registry.Locks)(nil)
	_ repository.ExecutionReader = (*execution.Executions)(nil)

	_ repository.DigestReader     = (*monitoring.Reader)(nil)
	_ repository.StatisticsReader = (*monitoring.Reader)(nil)
	_ repository.BaselineReader   = (*monitoring.Reader)(nil)
)

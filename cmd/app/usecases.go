package app

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/planning"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/backfill"
	commits "github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/firing"
	voting "github.com/platform-scheduler/platform-scheduler/application/manager/workflow/approval"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/approval"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/application/service/idempotency"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/live"
	"github.com/platform-scheduler/platform-scheduler/application/service/metric"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/application/service/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// useCases are those of jobs and their runs, and of what people read of them.
type useCases struct {
	Jobs       *job.JobService
	Executions *execution.ExecutionService
	Groups     *group.GroupService
	Backfills  *execution.BackfillService
	Approvals  *approval.ApprovalService
	// WorkflowRuns shows and steers workflow runs.
	WorkflowRuns *workflowrun.Service
	// Definitions exchanges jobs as documents.
	Definitions *definition.DefinitionService
	Explain     *explain.ExplainService
	Drafts      *trial.Trials
	Nodes       *node.NodeService
	Calls       *idempotency.CallKeeper
	Audit       *audit.AuditService
	Statistics  *statistics.StatisticsService
	Series      *metric.MetricService
	Loads       *monitor.LoadService
	Live        *live.Feed

	backfills *backfill.Manager
}

func newUseCases(b base, s storage, c *cluster, x *exports, n self, w work, settings alerting.Services) useCases {
	feed := live.NewFeed(live.Deps{
		Changes: s.Store.Statistics, Audit: s.Store, Alerts: s.Store, Nodes: w.Member.Nodes, Clock: s.Clock,
		Machine: b.machine, Logger: b.logger,
	})
	loops, shared := changes{w.Planner, c, feed, w.Commits}, storeTime{b.machine, s.Clock}
	jobs := job.NewJobService(job.JobDeps{
		Electorate: electorate(s),
		Store:      s.Store, Jobs: s.Store.Jobs, Names: s.Store.Jobs, Chains: s.Store, Release: Version(),
		Plans: s.Store, Claims: s.Store,
		Admitter: w.admitter, Schedules: w.compiler,
		Checker: b.options.Executor, Secrets: n.Secrets, Engine: loops, Channels: s.Store, Workers: s.Store.WorkerGroups,
		Clock:    s.Clock,
		TimeZone: b.cfg.Server.TimeZone, Logger: b.logger, Latest: w.jobs.Latest,
		EventReaders: entity.EventReaders{Kafka: x.readers.Kafka}, Working: n.gate.Open,
		Replaced: func(ctx context.Context, former, next *entity.Job) {
			planning.JobAgain(ctx, s.Store, former, next, s.Clock.Now())
		},
	})
	groups := group.NewGroupService(s.Store, jobs, w.Planner, s.Clock, b.logger)
	executions := &execution.ExecutionService{
		FailureRows: s.Store.Executions, Store: s.Store, Executions: s.Store.Executions, Records: s.Store,
		Jobs: s.Store.Jobs, Firer: jobs, Schedules: w.compiler, Closer: w.closer,
		CancelDetached: w.Detached.Cancel,
		Engine:         loops, Clock: s.Clock,
	}
	runs := workflowrun.New(workflowrun.Deps{
		Runs: s.Store, Executions: s.Store.Executions, Jobs: s.Store.Jobs, Catalog: w.catalog, Engine: w.workflows,
		Ender: executions, Repeater: executions, Recorder: w.admitter, Clock: s.Clock,
	})
	executions.StepJobs, executions.Reuse = runs.StepJobs, runs.Reuse
	backfills := backfill.New(backfill.Deps{
		Store: s.Store, Backfills: s.Store, Admitter: w.admitter, Schedules: w.compiler, Commits: w.Commits,
		Clock: b.machine, StoreClock: s.Clock,
	})
	return useCases{
		jobs, executions, groups,
		&execution.BackfillService{
			Store: s.Store, Backfills: s.Store, Jobs: s.Store.Jobs, Admitter: w.admitter, Schedules: w.compiler,
			Admit: backfills.Admit, Clock: s.Clock, Logger: b.logger,
		},
		&approval.ApprovalService{
			Approvals: s.Store, Executions: s.Store.Executions, Jobs: s.Store.Jobs,
			Ballots: &voting.Ballots{Store: s.Store, Admitter: w.admitter, Clock: s.Clock},
		},
		runs,
		definition.NewDefinitionService(s.Store.Jobs, jobs.ForDocuments(), groups, n.Secrets, settings),
		&explain.ExplainService{
			Ledger: executions.Fires, Jobs: s.Store.Jobs, Executions: s.Store.Executions, Groups: s.Store,
			Nodes: s.Store, Workers: s.Store, WorkerGroups: s.Store.WorkerGroups,
			Alerts: s.Store, Chains: s.Store, Schedules: w.compiler, Clock: s.Clock,
			Standby: n.standbyReason, Standing: explain.StandingOf(runs.Standing),
			Kept: time.Duration(b.cfg.Retention.ExecutionsDays) * 24 * time.Hour,
		},
		newTrials(b, s, n, w, jobs),
		node.NewNodeService(s.Store, s.Store.Info().Doubt),
		idempotency.NewCallKeeper(s.Store, shared),
		audit.NewAuditService(s.Store, shared),
		&statistics.StatisticsService{
			Sums: s.Store.Statistics, Baselines: s.Store.Statistics, Jobs: s.Store.Jobs, Clock: s.Clock, Zone: b.zone,
		},
		metric.NewMetricService(s.Store, s.Clock),
		monitor.NewLoadService(monitor.LoadDeps{Jobs: s.Store, Schedules: w.compiler, Clock: s.Clock, Machine: b.machine}),
		feed, backfills,
	}
}

// newTrials makes what runs drafts of jobs here, by the executors that run stored ones.
func newTrials(b base, s storage, n self, w work, checker trial.Checker) *trial.Trials {
	d := trial.Deps{
		Checker: checker, Clock: b.machine, StoreClock: s.Clock, NodeID: n.node.ID,
		Refused: b.Metrics.CallRefused("/jobs/trial"),
	}
	if n.node.Has(entity.RoleExecutor) {
		d.Runner = w.attempts
	}
	return trial.New(d)
}

// changes passes changes by the services to the loops.
type changes struct {
	planner *firing.JobManager
	cluster *cluster
	live    *live.Feed
	commits *commits.Commits
}

// JobChanged implements job.Engine.
func (c changes) JobChanged(job *entity.Job) {
	c.planner.JobChanged(job)
	if c.cluster != nil {
		c.cluster.notifier.JobChanged(job.ID)
	}
	c.live.JobChanged(job)
}

// AfterCommit implements job.Engine and execution.Engine.
func (c changes) AfterCommit(effect commits.PostCommit) { c.commits.AfterCommit(effect) }

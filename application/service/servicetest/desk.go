// Package servicetest puts the services in front of a node of the engine, over a
// real store.
package servicetest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/application/service/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// EngineCalls notes what the services tell the engine, and passes it on.
type EngineCalls struct {
	node *enginetest.Node

	mu sync.Mutex
	// Changed are the jobs that the services changed; Effects is what transactions did.
	Changed     []*entity.Job
	PostCommits commit.PostCommit
}

// JobChanged implements job.Engine.
func (n *EngineCalls) JobChanged(job *entity.Job) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Changed = append(n.Changed, job)
	n.node.Planner.JobChanged(job)
}

// AfterCommit implements job.Engine.
func (n *EngineCalls) AfterCommit(e commit.PostCommit) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.PostCommits.Add(e)
	n.node.Commits.AfterCommit(e)
}

// picky refuses definitions of a class that no executor knows.
type picky struct{}

func (picky) Check(job *entity.Job) []apperror.Field {
	if job.Class == "unknown" {
		return []apperror.Field{{Field: "jobClass", Code: "unknown", Message: "no handler is registered under this name"}}
	}
	return nil
}

// Desk is a node with the services in front of it.
type Desk struct {
	*enginetest.Node
	T          *testing.T
	Jobs       *job.JobService
	Executions *execution.ExecutionService
	Groups     *group.GroupService
	Backfills  *execution.BackfillService
	// WorkflowRuns goes by the follower of the node.
	WorkflowRuns *workflowrun.Service
	Filler       *backfill.Manager
	Calls        *EngineCalls
	Secrets      *secret.SecretService
	// Alerting manages what people define of alerting, without the parts that channels and templates need.
	Alerting alerting.Services
}

// SettingsOf are the services of what people define of alerting.
func (d *Desk) SettingsOf(configs alerting.ChannelConfigs, seals alerting.Seals,
	checker alerting.TemplateChecker,
) alerting.Services {
	return alerting.NewServices(alerting.Deps{
		Settings: d.Store, Users: d.Store, Jobs: d.Store.Jobs, Groups: d.Store, Alerts: d.Store,
		Suspensions: d.Store, Expressions: expression.Language{}, Clock: d.Time,
	}, configs, seals, checker)
}

// New is a desk over an SQLite store.
func New(t *testing.T) *Desk {
	t.Helper()
	return On(t, enginetest.New(t, enginetest.Options{}))
}

// EachStore runs a test on every store, for what locks decide.
func EachStore(t *testing.T, test func(d *Desk)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		test(On(t, enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})))
	})
}

// On puts the services in front of a node, whose executors know every class but one.
func On(t *testing.T, n *enginetest.Node) *Desk {
	t.Helper()
	return With(t, n, picky{})
}

// With puts the services in front of a node whose executors check definitions.
func With(t *testing.T, n *enginetest.Node, checker job.DefinitionChecker) *Desk {
	t.Helper()
	d := &Desk{Node: n, T: t, Calls: &EngineCalls{node: n}, Secrets: vaultBy(t, n.Store, n.Clock, KeyOf(1))}
	d.Jobs = job.NewJobService(job.JobDeps{
		Electorate: n.Electorate,
		Channels:   d.Store, Workers: n.Store.WorkerGroups,
		Store: n.Faults, Jobs: n.Store.Jobs, Names: n.Store.Jobs, Chains: n.Store,
		Plans: n.Store, Claims: n.Store,
		Admitter: n.Admitter, Schedules: n.Schedules,
		Checker: checker,
		Engine:  d.Calls, Clock: n.Time, TimeZone: "UTC", Logger: slog.New(slog.DiscardHandler), Secrets: d.Secrets,
		Latest: n.Jobs.Latest, EventReaders: entity.EventReaders{Rules: true, Kafka: true},
	})
	d.Alerting = d.SettingsOf(nil, nil, nil)
	d.Groups = group.NewGroupService(n.Store, d.Jobs, n.Planner, n.Time, slog.New(slog.DiscardHandler))
	d.Executions = &execution.ExecutionService{
		FailureRows: n.Store.Executions,
		Store:       n.Faults, Executions: n.Store.Executions, Records: n.Store, Jobs: n.Store.Jobs, Firer: d.Jobs,
		Schedules: n.Schedules, CancelDetached: d.Detached.Cancel, Closer: &maintenance.Closer{
			Store: n.Faults, Admitter: n.Admitter,
			Jobs: n.Jobs, Clock: n.Time,
		},
		Engine: d.Calls, Clock: n.Time,
	}
	d.WorkflowRuns = workflowrun.New(workflowrun.Deps{
		Runs: n.Store, Executions: n.Store.Executions, Jobs: n.Store.Jobs, Catalog: n.Catalog, Engine: n.Flow,
		Ender: d.Executions, Repeater: d.Executions, Recorder: n.Admitter, Clock: n.Time,
	})
	d.Executions.StepJobs, d.Executions.Reuse = d.WorkflowRuns.StepJobs, d.WorkflowRuns.Reuse
	d.Filler = backfill.New(backfill.Deps{
		Store: n.Faults, Backfills: n.Store, Admitter: n.Admitter, Schedules: n.Schedules, Commits: n.Commits, Clock: n.Clock,
		StoreClock: n.Time,
	})
	d.Backfills = &execution.BackfillService{
		Store: n.Faults, Backfills: n.Store, Jobs: n.Store.Jobs, Admitter: n.Admitter, Schedules: n.Schedules,
		Admit: d.Filler.Admit,
		Clock: n.Time, Logger: slog.New(slog.DiscardHandler),
	}
	return d
}

// Create stores a definition that must be accepted, enabled.
func (d *Desk) Create(j *entity.Job) *entity.Job {
	d.T.Helper()
	created, err := d.Jobs.Create(d.T.Context(), j, true)
	require.NoError(d.T, err)
	return created
}

// Replace edits a job's definition.
func (d *Desk) Replace(id string, change func(j *entity.Job)) *entity.Job {
	d.T.Helper()
	next := *d.Job(id)
	change(&next)
	replaced, err := d.Jobs.Replace(d.T.Context(), id, &next, 0, 0)
	require.NoError(d.T, err)
	return replaced
}

// Job is the stored job.
func (d *Desk) Job(id string) *entity.Job { d.T.Helper(); return d.Node.Job(d.T, id) }

// Rows are the executions of a job.
func (d *Desk) Rows(id string) []*entity.Execution { d.T.Helper(); return d.Node.Executions(d.T, id) }

// Trigger runs a job by hand and returns the ids.
func (d *Desk) Trigger(id string) []string {
	d.T.Helper()
	ids, err := d.Jobs.Trigger(d.T.Context(), id, job.Trigger{Source: entity.TriggerManual})
	require.NoError(d.T, err)
	return ids
}

// Finish makes a stored run final, as its node would.
func (d *Desk) Finish(id string, status entity.Status, reason entity.Reason) {
	d.T.Helper()
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		from, token := rows[0].Status, rows[0].Token
		rows[0].Status, rows[0].Reason, rows[0].Claim, rows[0].EndTime = status, reason, "", d.Time.Now()
		return tx.Executions.Update(ctx, rows[0], from, token)
	})
}

// After lets time pass and fires what comes due.
func (d *Desk) After(pass time.Duration) {
	d.T.Helper()
	d.Clock.Advance(pass)
	d.Fire(d.T)
}

// Waiting makes a job whose runs no node starts.
func Waiting(change func(j *entity.Job)) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Routing.Labels = map[string]string{"node": "nobody"}
		if change != nil {
			change(j)
		}
	}
}

// EveryTenSeconds is a job that fires every ten seconds; no node starts its runs.
func EveryTenSeconds(change func(j *entity.Job)) *entity.Job {
	return enginetest.Job("ledger", Waiting(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000}
		if change != nil {
			change(j)
		}
	}))
}

// Noon is a moment of the tests' day, counted from noon.
func Noon(d time.Duration) time.Time { return enginetest.Noon.Add(d) }

// Fires is the ledger of a job up to now.
func (d *Desk) Fires(id string) []entity.LedgerEntry {
	d.T.Helper()
	entries, _, err := d.Executions.Fires(d.T.Context(),
		entity.LedgerQuery{JobID: id, To: d.Time.Now().Add(time.Millisecond), Limit: 100})
	require.NoError(d.T, err)
	return entries
}

// Limit bounds a group.
func (d *Desk) Limit(group string, n int) {
	d.T.Helper()
	g, err := d.Groups.Limit(d.T.Context(), group, n, 0)
	require.NoError(d.T, err)
	require.True(d.T, g.Converged)
}

// In is a job of a group.
func (d *Desk) In(group, name string, change func(j *entity.Job)) *entity.Job {
	d.T.Helper()
	return d.Create(enginetest.Job(name, func(j *entity.Job) {
		j.Group = group
		if change != nil {
			change(j)
		}
	}))
}

// Ready tells which of the runs may start now.
func (d *Desk) Ready(ids ...string) []bool {
	d.T.Helper()
	out := make([]bool, len(ids))
	for i, id := range ids {
		row := d.Execution(d.T, id)
		out[i] = row.Claim.Ready()
		require.Equal(d.T, entity.StatusWaiting, row.Status)
	}
	return out
}

// Slots counts those that a group's fires hold.
func (d *Desk) Slots(group string) (n int) {
	d.T.Helper()
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) (err error) {
		n, err = tx.Groups.CountSlots(ctx, group)
		return err
	})
	return n
}

// Cancel ends a run.
func (d *Desk) Cancel(id string) {
	d.T.Helper()
	require.NoError(d.T, d.Executions.Cancel(d.T.Context(), id))
}

// Grouped makes the group g with a limit.
func (d *Desk) Grouped(limit int) {
	d.T.Helper()
	_, err := d.Groups.Create(d.T.Context(), "g", limit)
	require.NoError(d.T, err)
}

// TenSeconds is a job of a group that fires every ten seconds; no node starts its runs.
func (d *Desk) TenSeconds(name, group string) *entity.Job {
	d.T.Helper()
	return d.Create(enginetest.Job(name, Waiting(func(j *entity.Job) {
		j.Group = group
		j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000}
	})))
}

// Hold pauses or resumes a group.
func (d *Desk) Hold(group string, paused bool) entity.Group {
	d.T.Helper()
	hold := func() (entity.Group, error) { return d.Groups.Resume(d.T.Context(), group) }
	if paused {
		hold = func() (entity.Group, error) { return d.Groups.Pause(d.T.Context(), group, entity.Pause{}) }
	}
	g, err := hold()
	require.NoError(d.T, err)
	require.Equal(d.T, paused, g.Paused)
	return g
}

// Status is the stored status of a job.
func (d *Desk) Status(job *entity.Job) entity.JobStatus { d.T.Helper(); return d.Job(job.ID).Status }

// Wait makes n runs of a job wait, in transactions of 500.
func (d *Desk) Wait(jobID string, n int) {
	d.T.Helper()
	for n > 0 {
		part := min(n, 500)
		n -= part
		d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
			jobs, err := d.Admitter.Lock(ctx, tx, []string{jobID})
			if err != nil {
				return err
			}
			var fires []entity.Fire
			now := d.Time.Now()
			for i := range part {
				// Real fires are not of one moment: their ids follow one another.
				made := now.Add(time.Duration(i) * time.Microsecond)
				fires = append(fires, entity.ExtraFire(entity.TriggerManual, now, now, made, ""))
			}
			_, err = d.Admitter.Fire(ctx, tx, now, jobs[jobID], fires...)
			return err
		})
	}
}

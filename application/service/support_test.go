package service_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// news notes what the services tell the engine, and passes it on.
type news struct {
	node *enginetest.Node

	mu      sync.Mutex
	changed []*entity.Job
	effects admission.PostCommit
}

func (n *news) JobChanged(job *entity.Job) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed = append(n.changed, job)
	n.node.Planner.Hint(job)
}

func (n *news) Notice(e admission.PostCommit) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.effects.Add(e)
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

// desk is a node with the services in front of it.
type desk struct {
	*enginetest.Node
	t          *testing.T
	Jobs       *service.JobService
	Executions *service.ExecutionService
	Groups     *service.GroupService
	Backfills  *service.BackfillService
	filler     *backfill.Manager
	news       *news
	secrets    *service.SecretService
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return deskOn(t, enginetest.New(t, enginetest.Options{}))
}

// eachStore runs a test on every store, for what locks decide.
func eachStore(t *testing.T, test func(d *desk)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		test(deskOn(t, enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})))
	})
}

func deskOn(t *testing.T, n *enginetest.Node) *desk {
	t.Helper()
	d := &desk{Node: n, t: t, news: &news{node: n}, secrets: vaultOn(t, n.Store, keyOf(1))}
	d.Jobs = service.NewJobService(service.JobDeps{
		Store: n.Faults, Jobs: n.Store.Jobs, Plans: n.Store, Claims: n.Store, Admitter: n.Admitter, Schedules: n.Schedules, Checker: picky{},
		Engine: d.news, Clock: n.Time, TimeZone: "UTC", Logger: slog.New(slog.DiscardHandler), Secrets: d.secrets,
	})
	d.Groups = service.NewGroupService(n.Store, d.Jobs, n.Planner, n.Time, slog.New(slog.DiscardHandler))
	d.Executions = service.NewExecutionService(service.ExecutionDeps{
		Store: n.Faults, Executions: n.Store.Executions, Records: n.Store, Jobs: n.Store.Jobs, Admitter: n.Admitter,
		Schedules: n.Schedules, Detached: d.Detached, Closer: &maintenance.Closer{Store: n.Faults, Admitter: n.Admitter, Jobs: n.Jobs, Clock: n.Time},
		Engine: d.news, Clock: n.Time,
	})
	d.filler = backfill.New(backfill.Deps{
		Store: n.Faults, Backfills: n.Store, Admitter: n.Admitter, Schedules: n.Schedules, Commits: n.Commits, Clock: n.Clock, StoreClock: n.Time,
	})
	d.Backfills = service.NewBackfillService(service.BackfillDeps{
		Store: n.Faults, Backfills: n.Store, Jobs: n.Store.Jobs, Admitter: n.Admitter, Schedules: n.Schedules, Starter: d.filler,
		Clock: n.Time, Logger: slog.New(slog.DiscardHandler),
	})
	return d
}

// create stores a definition that must be accepted, enabled.
func (d *desk) create(j *entity.Job) *entity.Job {
	d.t.Helper()
	created, err := d.Jobs.Create(d.t.Context(), j, true)
	require.NoError(d.t, err)
	return created
}

// replace edits a job's definition.
func (d *desk) replace(id string, change func(j *entity.Job)) *entity.Job {
	d.t.Helper()
	next := *d.job(id)
	change(&next)
	replaced, err := d.Jobs.Replace(d.t.Context(), id, &next, 0, 0)
	require.NoError(d.t, err)
	return replaced
}

func (d *desk) job(id string) *entity.Job { d.t.Helper(); return d.Node.Job(d.t, id) }

func (d *desk) rows(id string) []*entity.Execution { d.t.Helper(); return d.Node.Executions(d.t, id) }

// trigger runs a job by hand and returns the ids.
func (d *desk) trigger(id string) []string {
	d.t.Helper()
	ids, err := d.Jobs.Trigger(d.t.Context(), id, service.Trigger{Source: entity.TriggerManual})
	require.NoError(d.t, err)
	return ids
}

// finish makes a stored run final, as its node would.
func (d *desk) finish(id string, status entity.Status, reason entity.Reason) {
	d.t.Helper()
	d.Write(d.t, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		from, token := rows[0].Status, rows[0].Token
		rows[0].Status, rows[0].Reason, rows[0].Claim, rows[0].EndTime = status, reason, "", d.Time.Now()
		return tx.Executions.Update(ctx, rows[0], from, token)
	})
}

// after lets time pass and fires what comes due.
func (d *desk) after(pass time.Duration) {
	d.t.Helper()
	d.Clock.Advance(pass)
	d.Fire(d.t)
}

// waiting makes a job whose runs no node starts.
func waiting(change func(j *entity.Job)) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Routing.Labels = map[string]string{"node": "nobody"}
		if change != nil {
			change(j)
		}
	}
}

func noon(d time.Duration) time.Time { return enginetest.Noon.Add(d) }

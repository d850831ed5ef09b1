package job_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Commands go to workers only where their group may run them; HTTP calls go to all.
func TestAJobNamesWorkersThatRunItsType(t *testing.T) {
	d := newDesk(t)
	for name, commands := range map[string]bool{"hosts": true, "shop": false} {
		_, err := d.Store.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{
			Name: name, JobGroups: []string{"orders"}, MaxWorkers: 10, Commands: commands,
		}, nil)
		require.NoError(t, err)
	}
	on := func(workers string, kind entity.JobType, data string) *entity.Job {
		return enginetest.Job(workers+" "+string(kind), func(j *entity.Job) {
			j.Group, j.Routing.Workers, j.Type, j.Class, j.Data = "orders", workers, kind, "", data
		})
	}
	const ls, get = `{"command": ["ls"]}`, `{"url": "http://10.0.0.1/"}`
	own, err := d.Jobs.Create(t.Context(), on("hosts", entity.JobCommand, ls), false)
	require.NoError(t, err)
	for _, workers := range []string{"hosts", "shop"} {
		_, err = d.Jobs.Create(t.Context(), on(workers, entity.JobHTTP, get), false)
		require.NoError(t, err)
	}
	_, onCreate := d.Jobs.Create(t.Context(), on("shop", entity.JobCommand, ls), false)
	_, onReplace := d.Jobs.Replace(t.Context(), own.ID, on("shop", entity.JobCommand, ls), 1, 0)
	_, onDraft := d.Jobs.CheckDraft(t.Context(), on("shop", entity.JobCommand, ls), "")
	_, onDocument := d.Jobs.ForDocuments().Create(t.Context(), on("shop", entity.JobCommand, ls), false)
	for _, err := range []error{onCreate, onReplace, onDraft, onDocument} {
		var invalid *apperror.Error
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, []string{"routing.workers", "worker_group_no_commands"},
			[]string{invalid.Fields[0].Field, invalid.Fields[0].Code})
	}
}

// A job names a worker group only if that serves the group of the job, however the definition comes to be (V17).
func TestAJobNamesWorkersThatServeItsGroup(t *testing.T) {
	d := newDesk(t)
	_, err := d.Store.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{
		Name: "shop", JobGroups: []string{"orders"}, MaxWorkers: 10,
	}, nil)
	require.NoError(t, err)
	on := func(name, group, workers string) *entity.Job {
		return enginetest.Job(name, func(j *entity.Job) { j.Group, j.Routing.Workers = group, workers })
	}
	refused := func(err error) {
		t.Helper()
		var invalid *apperror.Error
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, []string{"routing.workers", "worker_group_not_allowed"},
			[]string{invalid.Fields[0].Field, invalid.Fields[0].Code})
	}
	own, err := d.Jobs.Create(t.Context(), on("own", "orders", "shop"), false)
	require.NoError(t, err)
	_, err = d.Jobs.Create(t.Context(), on("foreign", "pay", "shop"), false)
	refused(err)
	_, err = d.Jobs.Create(t.Context(), on("unknown", "orders", "nobody"), false)
	refused(err)
	_, err = d.Jobs.Copy(t.Context(), own.ID, "copy", "pay")
	refused(err)
	_, err = d.Jobs.Replace(t.Context(), own.ID, on("own", "pay", "shop"), 1, 0)
	refused(err)
	_, err = d.Jobs.CheckDraft(t.Context(), on("draft", "pay", "shop"), "")
	refused(err)
	_, err = d.Jobs.ForDocuments().Create(t.Context(), on("document", "pay", "shop"), false)
	refused(err)
}

// asRead are worker groups as they were at the check of a definition, before somebody else changed them.
type asRead struct{ worker.Group }

func (g asRead) WorkerGroup(context.Context, string) (worker.Group, error) { return g.Group, nil }

func (g asRead) CountWorkers(context.Context) ([]repository.WorkerCount, error) { return nil, nil }

// sized are worker groups with that many workers, of which one is down.
type sized struct {
	job.WorkerGroups
	up int
}

func (c sized) CountWorkers(context.Context) ([]repository.WorkerCount, error) {
	return []repository.WorkerCount{{Group: "other", Up: 5000}, {Group: "shop", Up: c.up - 1, Draining: 1, Down: 1}}, nil
}

// A choice, and a broadcast, look at 1,000 workers: a definition that asks for one of a larger group is refused (V12).
func TestStrategiesAndBroadcastsAreForGroupsOfAThousand(t *testing.T) {
	d := newDesk(t)
	_, err := d.Store.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{
		Name: "shop", JobGroups: []string{"orders"}, MaxWorkers: 5000,
	}, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		up        int
		strategy  entity.RoutingStrategy
		broadcast bool
		field     string
	}{
		{1000, entity.RouteFirst, false, ""},
		{1000, entity.RouteAny, true, ""},
		{1001, entity.RouteAny, false, ""},
		{1001, entity.RouteFirst, false, "routing.strategy"},
		{1001, entity.RouteAny, true, "broadcast"},
	} {
		d.Jobs.Workers = sized{d.Store.WorkerGroups, c.up}
		_, err := d.Jobs.CheckDraft(t.Context(), enginetest.Job("j", func(j *entity.Job) {
			j.Group, j.Routing.Workers, j.Routing.Strategy, j.Broadcast = "orders", "shop", c.strategy, c.broadcast
		}), "")
		if c.field == "" {
			require.NoError(t, err, c)
			continue
		}
		var invalid *apperror.Error
		require.ErrorAs(t, err, &invalid, c)
		require.Equal(t, []string{c.field, "worker_group_too_large"},
			[]string{invalid.Fields[0].Field, invalid.Fields[0].Code}, c)
	}
}

// A worker group that is narrowed or deleted between the check of a definition and its save keeps the job out: it could
// never run. So does one that went while the job was deleted.
func TestNoJobIsSavedBehindAChangeOfItsWorkerGroup(t *testing.T) {
	d := newDesk(t)
	groups := d.Store.WorkerGroups
	g, err := groups.PutWorkerGroup(t.Context(), worker.Group{
		Name: "shop", JobGroups: []string{"orders"}, MaxWorkers: 10, Commands: true,
	}, nil)
	require.NoError(t, err)
	on := func(name string) *entity.Job {
		return enginetest.Job(name, func(j *entity.Job) {
			j.Group, j.Routing.Workers, j.Type, j.Class, j.Data = "orders", "shop", entity.JobCommand, "", `{"command": ["ls"]}`
		})
	}
	own, err := d.Jobs.Create(t.Context(), on("own"), false)
	require.NoError(t, err)
	gone, err := d.Jobs.Create(t.Context(), on("gone"), false)
	require.NoError(t, err)
	require.NoError(t, d.Jobs.Delete(t.Context(), gone.ID, 0))
	refused := func(code string) {
		t.Helper()
		d.Jobs.Workers = asRead{g}
		_, onCreate := d.Jobs.Create(t.Context(), on("late"), false)
		_, onReplace := d.Jobs.Replace(t.Context(), own.ID, on("own"), 0, 0)
		_, onUndelete := d.Jobs.Undelete(t.Context(), gone.ID, "ann", func(*entity.Job) error { return nil })
		require.True(t, apperror.Is(onUndelete, apperror.KindConflict), "%v", onUndelete)
		require.ErrorContains(t, onUndelete, "the job cannot come back: ")
		for _, err := range []error{onCreate, onReplace} {
			var invalid *apperror.Error
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, []string{"routing.workers", code}, []string{invalid.Fields[0].Field, invalid.Fields[0].Code})
		}
	}
	next := g
	next.Commands = false
	_, err = groups.PutWorkerGroup(t.Context(), next, nil)
	require.NoError(t, err)
	refused("worker_group_no_commands")
	require.NoError(t, groups.DropWorkerGroup(t.Context(), "shop", nil))
	refused("worker_group_not_allowed")
}

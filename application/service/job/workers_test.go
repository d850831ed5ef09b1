package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// Commands go to workers only where their group may run them; HTTP calls go to all.
func TestAJobNamesWorkersThatRunItsType(t *testing.T) {
	d := newDesk(t)
	for name, commands := range map[string]bool{"hosts": true, "shop": false} {
		_, err := d.Store.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{
			Name: name, JobGroups: []string{"orders"}, MaxWorkers: 10, Commands: commands,
		})
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
	})
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

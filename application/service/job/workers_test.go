package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

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

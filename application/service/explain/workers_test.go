package explain_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// Slots of workers count for a job only while their group may run it; where it may not, the answer says so.
func TestWhyCountsNoSlotsOfAGroupWithoutTheRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := servicetest.New(t)
		groups := d.Store.WorkerGroups
		g, err := groups.PutWorkerGroup(t.Context(), worker.Group{
			Name: "hosts", JobGroups: []string{"default"}, Commands: true, MaxWorkers: 10,
		}, nil)
		require.NoError(t, err)
		_, err = d.Store.RegisterWorker(t.Context(), worker.ID("hosts", "a"), "hosts",
			func(_ *worker.Worker, now time.Time) (worker.Worker, error) {
				return worker.Worker{
					ID: worker.ID("hosts", "a"), Group: "hosts", Instance: "a", Boot: "boot", Epoch: 1, Status: worker.Up,
					Slots: entity.Slots{entity.SlotCommand: 3}, LastBeat: now, Beat: time.Hour, Lease: 4 * time.Hour, BeginTime: now,
				}, nil
			})
		require.NoError(t, err)
		job := d.Create(every(func(j *entity.Job) {
			j.Group, j.Type, j.Class, j.Data, j.Routing.Workers = "default", entity.JobCommand, "",
				`{"command":["ls"],"env":{"PIN":"${secret.PIN}"}}`, "hosts"
		}))
		d.Node.Start(t)
		d.After(10 * time.Second)
		facts := func() string {
			a, err := explainer(d, nil).Explain(t.Context(), explain.Query{
				JobID: job.ID, At: d.Rows(job.ID)[0].ScheduledTime, SeesRuns: true,
			})
			require.NoError(t, err)
			require.Equal(t, explain.Waiting, a.Verdict)
			var all strings.Builder
			for _, f := range a.Facts {
				saysWhole(t, "", f.Code, f.Params, f.Text)
				all.WriteString(f.Text + "\n")
			}
			return all.String()
		}
		said := facts()
		require.Contains(t, said, "1 worker is up; 1 of them can run it, with 3 of 3 slots free")
		require.Contains(t, said, "the job names secrets, and the worker group hosts gets none")
		g.Secrets = true
		g, err = groups.PutWorkerGroup(t.Context(), g, nil)
		require.NoError(t, err)
		require.NotContains(t, facts(), "administrator")

		g.Commands = false
		g, err = groups.PutWorkerGroup(t.Context(), g, nil)
		require.NoError(t, err)
		said = facts()
		require.Contains(t, said, "1 worker is up; 0 of them can run it, with 0 of 0 slots free")
		require.Contains(t, said, "the worker group hosts has no right to run commands")

		g.JobGroups = []string{"other"}
		_, err = groups.PutWorkerGroup(t.Context(), g, nil)
		require.NoError(t, err)
		said = facts()
		require.Contains(t, said, "0 of them can run it, with 0 of 0 slots free")
		require.Contains(t, said, "there is no worker group hosts that serves the group default")
	})
}

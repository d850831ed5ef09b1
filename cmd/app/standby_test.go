package app_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// standsBy reports the part standby of a node, and that the node is ready all the same.
func standsBy(n *node) (reason string) {
	n.t.Helper()
	for _, trouble := range n.Degraded(n.t.Context()) {
		if trouble.Blocks { // not require: conditions of Eventually call this, too
			n.t.Errorf("%s: %s", trouble.Part, trouble.Reason)
		}
		if trouble.Part == "standby" {
			reason = trouble.Reason
		}
	}
	return reason
}

func setMode(t *testing.T, s *persistence.Store, mode entity.StoreMode) {
	t.Helper()
	require.NoError(t, s.SetStoreMode(t.Context(), entity.StoreState{Mode: mode, Reason: "a drill", By: "ann"}))
}

// The store of a standalone server was copied: it serves, and fires nothing before somebody
// activates the store. A store that stands by later stops what runs.
func TestAServerStandsByWhileItsStoreSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := newConfig(t)
		store := dbtest.Open(t, persistence.Config{
			Config: sqldb.Config{Driver: "sqlite", Path: cfg.DataDir + "/platform-scheduler.db"}, AutoMigrate: true,
		})
		setMode(t, store, entity.StoreStandby)
		require.NoError(t, store.Close())

		var active atomic.Int64
		n := startNode(t, cfg, &script{reply: func(ctx context.Context, run entity.Run) entity.Outcome {
			active.Add(1)
			defer active.Add(-1)
			return untilStopped(ctx, run)
		}})
		defer n.stop()
		n.await("it says so", func() bool { return standsBy(n) != "" })
		require.Contains(t, standsBy(n), "a drill")
		j := n.create(newJob("grid", every(100*time.Millisecond)))
		waiting := n.trigger(n.create(newJob("by hand", nil)).ID)
		n.await("looks have passed", func() bool { return n.Clock.Now().Sub(j.CreateTime) > time.Second })
		require.Equal(t, entity.StatusWaiting, n.row(waiting).Status)
		require.Empty(t, n.script.runs())
		require.Contains(t, whyOf(n, n.row(waiting).JobID), "nodes stand by", "why says what the run waits for")
		require.Empty(t, n.Member.Partitions())
		self := n.Member.Nodes()[0]
		require.Equal(t, []string{entity.RoleAPI, entity.RoleStandby}, self.Roles)
		require.Zero(t, self.Slots)

		activated := n.Clock.Now()
		setMode(t, n.Store, entity.StoreActive)
		n.await("it works", func() bool { return len(n.script.runs()) > 3 })
		for _, run := range n.script.runs() {
			require.False(t, run.Execution.StartTime.Before(activated.Add(-time.Millisecond)))
		}
		n.awaitStatus(waiting, entity.StatusRunning)
		require.Empty(t, standsBy(n))

		setMode(t, n.Store, entity.StoreStandby)
		n.await("its runs are stopped", func() bool { return standsBy(n) != "" && active.Load() == 0 })
		ran := len(n.script.runs())
		stopped := n.Clock.Now()
		n.await("looks have passed", func() bool { return n.Clock.Now().Sub(stopped) > time.Second })
		require.Len(t, n.script.runs(), ran)
		setMode(t, n.Store, entity.StoreActive)
		n.await("it works again", func() bool { return len(n.script.runs()) > ran })
	})
}

func TestTheSettingKeepsAServerFromWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := newConfig(t)
		cfg.Server.Standby = true
		n := startNode(t, cfg, &script{})
		defer n.stop()
		n.await("it says so", func() bool { return standsBy(n) != "" })
		j := n.create(newJob("grid", every(100*time.Millisecond)))
		setMode(t, n.Store, entity.StoreActive)
		n.await("looks have passed", func() bool { return n.Clock.Now().Sub(j.CreateTime) > 3*time.Second })
		require.Empty(t, n.script.runs())
		require.Contains(t, standsBy(n), "--standby")
	})
}

// whyOf is all that why says of the latest run of a job.
func whyOf(n *node, jobID string) (text string) {
	a, err := n.Explain.Explain(n.t.Context(), explain.Query{JobID: jobID, SeesRuns: true})
	require.NoError(n.t, err)
	for _, f := range a.Facts {
		text += f.Text + "\n"
	}
	return a.Text + "\n" + text
}

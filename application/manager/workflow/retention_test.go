package workflow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// A run stays as long as its end owes a start, however old it is, and goes with the next look of the retention.
func TestRetentionLeavesWhatAnOpenChainNeeds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := newRig(t, dbtest.Open(t, cfg), enginetest.Options{})
		last := r.add("last", nil)
		first := r.add("first", then(on(last, entity.NextOnSuccess)))
		run := r.Trigger(t, first.ID)[0]
		r.end(entity.StatusSuccess, "", run.ID)
		ended := r.Execution(t, run.ID)
		r.Clock.Advance(40 * 24 * time.Hour)
		purge := func() int {
			purged, err := r.Store.PurgeExecutions(t.Context(), r.Time.Now().Add(-30*24*time.Hour), 100)
			require.NoError(t, err)
			return purged.Deleted
		}
		require.Zero(t, purge())
		started := r.follow(last)
		require.Len(t, started, 1)
		require.Equal(t, ended.ScheduledTime, started[0].ScheduledTime)
		require.Equal(t, 1, purge())
		require.Len(t, r.follow(last), 1, "nothing is owed any more")
	})
}

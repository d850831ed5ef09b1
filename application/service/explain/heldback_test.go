package explain_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A run that was held back says so once, with a count, while it waits and after it has ended.
func TestARunThatWasHeldBackSaysSoOnce(t *testing.T) {
	d := servicetest.New(t)
	var starts atomic.Int64
	d.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
		if starts.Add(1) <= 2 {
			return entity.HeldBack(5*time.Second, "held back: nobody is there")
		}
		return entity.Succeeded("at last")
	})
	job := d.Create(every(func(j *entity.Job) { j.Retry.MaxRetries, j.Retry.IntervalMs = 1, 1000 }))
	d.Node.Start(t)
	d.After(10 * time.Second)
	id := d.Rows(job.ID)[0].ID
	said := func(texts ...string) {
		t.Helper()
		a, err := explainer(
			d,
			nil,
		).Explain(t.Context(), explain.Query{JobID: job.ID, At: noon(10 * time.Second), SeesRuns: true})
		require.NoError(t, err)
		var all strings.Builder
		for _, f := range a.Facts {
			all.WriteString(string(f.Code) + ": " + f.Text + "\n")
		}
		for _, text := range texts {
			require.Equal(t, 1, strings.Count(all.String(), text), all.String())
		}
		require.NotContains(t, all.String(), "LATE: ", "a hold is no wait for a slot")
	}
	for hold := 1; hold <= 2; hold++ {
		require.Eventually(t, func() bool {
			return strings.Contains(d.Execution(t, id).ErrorMessage, "held back") &&
				d.Execution(t, id).Status == entity.StatusWaiting
		}, 20*time.Second, time.Millisecond)
		if hold == 1 {
			said("HELD_BACK: it was held back 1 time, for 5s in all", "BEGINS_AT")
		}
		d.Clock.Advance(5 * time.Second)
		_, err := d.Node.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		require.Eventually(t, func() bool { return starts.Load() > int64(hold) }, 20*time.Second, time.Millisecond)
	}
	d.AwaitStatus(t, id, entity.StatusSuccess)
	said("HELD_BACK: it was held back 2 times, for 10s in all")
}

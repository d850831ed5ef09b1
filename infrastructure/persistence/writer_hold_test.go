package persistence_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// Nothing but a fire transaction holds SQLite's one writer for more than 5 ms
// (engine rule 31). How long a transaction takes is the machine's; what holds the
// rule is that no transaction grows with what waits: with all of a thousand runs
// at once, each writes at most a batch, and what is not urgent writes less. The
// steps of long queues are held beside the services that take them, and the order
// of those who wait by TestLanesServeTheMostUrgentFirst.
func TestNoTransactionGrowsWithWhatWaits(t *testing.T) {
	const jobs, batch, said = 1000, 250, 2000
	cfg, clock := dbtest.SQLite(t), clocktest.NewManual(enginetest.Noon)
	cfg.Clock = clock
	s, meter := metered(t, cfg, false)
	n := enginetest.On(t, s, enginetest.Options{Clock: clock, Slots: 2 * jobs, BatchSize: batch, Linger: time.Hour})
	for i := range jobs {
		n.Add(t, enginetest.Job(fmt.Sprintf("plain-%04d", i), enginetest.Every(365*24*time.Hour)))
	}
	release := make(chan struct{})
	n.Script.Reply(func(_ context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
		rep.Log(entity.LogStdout, strings.Repeat("x", said))
		<-release
		if strings.HasSuffix(run.Job.Name, "7") { // its letter keeps it for ever
			return entity.Failed(entity.ReasonError, "no")
		}
		return entity.Succeeded("done")
	})
	n.Start(t)
	// held are the transactions since the last look: at least so many, each within its bounds.
	held := func(what string, least int, most traffic) {
		t.Helper()
		all, top := meter.Each(), traffic{}
		meter.Reset()
		for _, tx := range all {
			top = traffic{
				Statements: max(top.Statements, tx.Statements), Rows: max(top.Rows, tx.Rows),
				Values: max(top.Values, tx.Values), Bytes: max(top.Bytes, tx.Bytes),
			}
		}
		t.Logf("%s: %d transactions, at most %+v", what, len(all), top)
		require.GreaterOrEqual(t, len(all), least, what)
		require.LessOrEqual(t, top.Rows, most.Rows, "%s: rows", what)
		require.LessOrEqual(t, top.Bytes, most.Bytes, "%s: bytes", what)
		require.LessOrEqual(t, top.Statements, most.Statements, "%s: statements", what)
	}

	meter.Reset()
	_, err := n.Planner.Scan(t.Context())
	require.NoError(t, err)
	for fired := 0; fired < jobs; {
		some, err := n.Planner.FireDue(t.Context())
		require.NoError(t, err)
		fired += some
	}
	n.Script.Await(t, jobs)
	held("fires", jobs/batch, traffic{Statements: 2*batch + 100, Rows: 2 * batch, Bytes: 1000 * batch})

	require.NoError(t, n.Runner.FlushLogs(t.Context()))
	held("logs", jobs*said>>18, traffic{Statements: 200, Rows: 1000, Bytes: 400 << 10})

	close(release)
	ended(t, n, jobs)
	held("ends", jobs/batch, traffic{Statements: 2*batch + 100, Rows: 4 * batch, Bytes: 2000 * batch})

	clock.Advance(100 * 24 * time.Hour)
	old := maintenance.NewRetention(maintenance.RetentionDeps{
		Store: s, Clock: clock, StoreClock: n.Time, Days: maintenance.RetentionDays{
			Executions: 30, Logs: 30, Metrics: 30,
			Audit: 30,
		}, Logger: slog.New(slog.DiscardHandler),
	})
	gone, err := old.RunOnce(t.Context())
	require.NoError(t, err)
	require.Greater(t, gone, jobs, "runs, and what they said")
	held("retention", 5, traffic{Statements: 20, Rows: 1200, Bytes: 200 << 10})
}

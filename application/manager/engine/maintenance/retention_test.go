package maintenance_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// purger counts what it is asked to delete. Each step takes some time.
type purger struct {
	left   map[string]int
	before map[string]time.Time
	order  []string
	fail   map[string]error
	pass   func()
	most   int
	keep   int
}

func newPurger(left map[string]int) *purger {
	return &purger{left: left, before: map[string]time.Time{}, fail: map[string]error{}, pass: func() {}}
}

func (p *purger) purge(what string, before time.Time, limit int) (repository.Purged, error) {
	p.pass()
	p.order = append(p.order, what)
	p.before[what] = before
	p.most = max(p.most, limit)
	if err := p.fail[what]; err != nil {
		return repository.Purged{}, err
	}
	n := min(limit, p.left[what])
	p.left[what] -= n
	return repository.Purged{
		Deleted: n, More: n == limit,
		Reached: before.Add(-time.Duration(p.left[what]) * time.Second),
	}, nil
}

func (p *purger) PurgeExecutions(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("executions", before, limit)
}

func (p *purger) PurgeLogs(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("logs", before, limit)
}

func (p *purger) PurgeMetrics(_ context.Context, period time.Duration, before time.Time,
	limit int,
) (repository.Purged, error) {
	return p.purge("metrics "+period.String(), before, limit)
}

func (p *purger) PurgeOthers(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("others", before, limit)
}

func (p *purger) PurgeAudit(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("audit", before, limit)
}

func (p *purger) PurgeBackfills(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("backfills", before, limit)
}

func (p *purger) PurgeVersions(_ context.Context, before time.Time, keep, limit int) (repository.Purged, error) {
	p.keep = keep
	return p.purge("versions", before, limit)
}

func (p *purger) PurgeJobs(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("jobs", before, limit)
}

func (p *purger) PurgeAsides(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("asides", before, limit)
}

func (p *purger) ForgetNodes(_ context.Context, before time.Time) (int, error) {
	done, err := p.purge("nodes", before, 1)
	return done.Deleted, err
}

func (p *purger) PurgeAlerts(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("alerts", before, limit)
}

func (p *purger) PurgeReports(_ context.Context, before time.Time, limit int) (repository.Purged, error) {
	return p.purge("reports", before, limit)
}

func retention(n *enginetest.Node, store maintenance.OldRows, days maintenance.RetentionDays) *maintenance.Retention {
	return maintenance.NewRetention(maintenance.RetentionDeps{
		Store: store, Clock: n.Clock, StoreClock: n.Time, Days: days,
		Logger: slog.New(slog.DiscardHandler),
	})
}

// Old rows go in small steps, one kind after the other, until none is left.
func TestRetentionGoesOnUntilNothingOldIsLeft(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	p := newPurger(map[string]int{"executions": 10_500, "logs": 450})
	r := retention(n, p, maintenance.RetentionDays{Executions: 30, Logs: 7, Nodes: 3, Alerts: 90})
	gone, err := r.RunOnce(t.Context())
	require.NoError(t, err)
	require.Equal(t, 10_950, gone)
	require.Equal(t, 200, p.most)
	require.Equal(t, []string{
		"executions", "backfills", "jobs", "logs", "nodes", "alerts", "reports", "asides", "executions", "logs", "executions",
	}, p.order[:11])
	require.Equal(t, map[string]time.Time{
		"executions": enginetest.Noon.AddDate(0, 0, -30), "backfills": enginetest.Noon.AddDate(0, 0, -30),
		"jobs": enginetest.Noon.AddDate(0, 0, -30), "logs": enginetest.Noon.AddDate(0, 0, -7),
		"nodes": enginetest.Noon.AddDate(0, 0, -3), "alerts": enginetest.Noon.AddDate(0, 0, -90),
		"reports": enginetest.Noon.AddDate(0, 0, -90), "asides": enginetest.Noon.AddDate(0, 0, -7),
	}, p.before, "zero days keep for ever")
	reason, _ := r.Behind()
	require.Empty(t, reason)
}

// Rows of a period stay until the next period is surely made of them.
func TestRetentionKeepsTimeSeriesByTheirPeriod(t *testing.T) {
	for _, c := range []struct{ setting, minutes, hours, days int }{{15, 2, 15, 400}, {1, 2, 3, 400}, {900, 2, 900, 900}} {
		n := enginetest.New(t, enginetest.Options{})
		p := newPurger(map[string]int{})
		_, err := retention(n, p, maintenance.RetentionDays{Metrics: c.setting}).RunOnce(t.Context())
		require.NoError(t, err)
		for what, days := range map[string]int{"1m0s": c.minutes, "1h0m0s": c.hours, "24h0m0s": c.days} {
			require.Equal(t, enginetest.Noon.AddDate(0, 0, -days), p.before["metrics "+what], "%d: %s", c.setting, what)
		}
	}
}

// Former versions of jobs go where somebody says how many are kept.
func TestRetentionKeepsSoManyVersions(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	p := newPurger(map[string]int{"versions": 450})
	r := maintenance.NewRetention(maintenance.RetentionDeps{
		Store: p, Clock: n.Clock, StoreClock: n.Time, Days: maintenance.RetentionDays{Executions: 30}, JobVersions: 9,
		Logger: slog.New(slog.DiscardHandler),
	})
	gone, err := r.RunOnce(t.Context())
	require.NoError(t, err)
	require.Equal(t, 450, gone)
	require.Equal(t, 9, p.keep)
	require.Equal(t, enginetest.Noon.AddDate(0, 0, -30), p.before["versions"], "runs that name them are kept so long")
}

// A row that cannot be deleted does not keep the rest; a store that is away ends the run.
func TestRetentionGoesOnPastWhatFails(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	p := newPurger(map[string]int{"executions": 500, "logs": 450})
	p.fail["executions"] = errors.New("a broken row")
	r := retention(n, p, maintenance.RetentionDays{Executions: 30, Logs: 7})
	gone, err := r.RunOnce(t.Context())
	require.ErrorContains(t, err, "delete old executions: a broken row")
	require.Equal(t, 450, gone)
	p.fail["executions"] = apperror.Unavailable(errors.New("away"))
	p.left["logs"], p.order = 450, nil
	_, err = r.RunOnce(t.Context())
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	require.Equal(t, []string{"executions"}, p.order)
}

// A run is bounded in time. When old rows are left again and again, that is told
// once, and shown until it is over.
func TestRetentionThatDoesNotKeepUpSaysSo(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	p := newPurger(map[string]int{"executions": 1_000_000})
	const rest = 500 * time.Millisecond // half of a pass
	p.pass = func() { n.Clock.Advance(2 * rest) }
	var log bytes.Buffer
	r := maintenance.NewRetention(maintenance.RetentionDeps{
		Store: p, Clock: n.Clock, StoreClock: n.Time, Days: maintenance.RetentionDays{Executions: 30},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	run := func() {
		t.Helper()
		began := n.Clock.Monotonic()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = r.RunOnce(context.Background())
		}()
		for {
			select {
			case <-done:
				require.Less(t, n.Clock.Monotonic()-began, 40*time.Second)
				return
			default:
				if n.Clock.HasTimer(rest) { // others wait, too, such as for the store's time
					n.Clock.Advance(rest)
				}
				runtime.Gosched()
			}
		}
	}
	run()
	require.LessOrEqual(t, len(p.order), 22, "a third of the time is rest")
	require.Greater(t, len(p.order), 5)
	run()
	reason, _ := r.Behind()
	require.Empty(t, reason, "a rush may take a few runs")
	run()
	reason, blocks := r.Behind()
	require.Contains(t, reason, "executions by 2")
	require.False(t, blocks)
	require.NotZero(t, r.Lag()["executions"])
	require.Equal(t, 1, strings.Count(log.String(), "old rows are deleted more slowly"))
	run()
	require.Equal(t, 1, strings.Count(log.String(), "old rows are deleted more slowly"))
	p.left["executions"] = 0
	run()
	reason, _ = r.Behind()
	require.Empty(t, reason)
	require.Contains(t, r.Lag(), "executions", "a rule finds its zero")
	for what, by := range r.Lag() {
		require.Zero(t, by, what)
	}
	require.Contains(t, log.String(), "all old rows are deleted again")
}

// A node that does this task no more says nothing of it.
func TestRetentionOfAFormerLeaderIsSilent(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	p := newPurger(map[string]int{"executions": 1_000_000})
	r := retention(n, p, maintenance.RetentionDays{Executions: 30})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		p.pass = func() {
			n.Clock.Advance(time.Minute) // one long step, and then no rest
			cancel()
		}
		_, _ = r.RunOnce(ctx)
	}
	reason, _ := r.Behind()
	require.NotEmpty(t, reason)
	n.Clock.Advance(6 * time.Minute)
	reason, _ = r.Behind()
	require.Empty(t, reason)
}

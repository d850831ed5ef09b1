package maintenance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// RetentionDays says how long rows are kept; zero or less keeps them for ever.
type RetentionDays struct {
	Executions int
	Logs       int
	Metrics    int
	Audit      int
	// Nodes counts from the last beat of a node that is DOWN.
	Nodes int
	// Alerts counts from the end of an alert.
	Alerts int
}

const (
	// purgeBatch is the number of rows deleted by one transaction: small, so that
	// fires are not held up.
	purgeBatch = 200
	// purgeBudget bounds one run of the task, which comes once a minute. A third of
	// it is rest, so that 20 seconds of a minute are work.
	purgeBudget = 30 * time.Second
	// behindRuns is how many runs in a row may leave old rows before that is told.
	behindRuns = 3
	// forgotten is how long a node that does this task no more says that it is behind.
	forgotten = 5 * time.Minute
)

// OldRows is what Retention deletes from.
type OldRows interface {
	repository.Retention
	// ForgetNodes: see repository.Nodes.
	ForgetNodes(ctx context.Context, before time.Time) (int, error)
	// PurgeAlerts and PurgeReports: see repository.Alerts.
	PurgeAlerts(ctx context.Context, before time.Time, limit int) (repository.Purged, error)
	PurgeReports(ctx context.Context, before time.Time, limit int) (repository.Purged, error)
}

// RetentionDeps are the parts of a Retention.
type RetentionDeps struct {
	Store OldRows
	// Clock is the machine's, StoreClock the store's.
	Clock      clock.Clock
	StoreClock clock.StoreClock
	Days       RetentionDays
	// JobVersions is how many versions of each job are kept, besides those that
	// runs name; zero or less is all.
	JobVersions int
	Logger      *slog.Logger
}

// Retention deletes old rows in small steps by primary key, as long as there are
// some and its time lasts. Safe for concurrent use.
type Retention struct {
	RetentionDeps

	mu sync.Mutex
	// late are the kinds of rows of which old ones were left, and how far they
	// are behind; runs counts how often in a row, at is the latest of them.
	late   map[string]time.Duration
	runs   int
	at     time.Duration
	warned bool
}

// NewRetention wires the parts.
func NewRetention(d RetentionDeps) *Retention { return &Retention{RetentionDeps: d} }

// purge deletes rows from before a moment, at most limit.
type purge func(ctx context.Context, before time.Time, limit int) (repository.Purged, error)

// kind is one kind of rows in one run.
type kind struct {
	what   string
	before time.Time
	purge  purge
	// more: its latest step may have left old rows.
	more bool
	// reached is how far its steps have come.
	reached time.Time
}

// RunOnce deletes what is due, for at most half a minute, one step of each kind
// of rows after the other: neither a kind that is far behind nor one that cannot
// be deleted holds up the others. It returns how many rows went.
func (r *Retention) RunOnce(ctx context.Context) (int, error) {
	kinds := r.kinds()
	began := r.Clock.Monotonic()
	total := 0
	var errs []error
	for left := true; left && r.Clock.Monotonic()-began < purgeBudget && ctx.Err() == nil; {
		left = false
		for i := range kinds {
			k := &kinds[i]
			if !k.more {
				continue
			}
			n, err := r.step(ctx, k)
			if total += n; err != nil {
				k.more = false
				errs = append(errs, fmt.Errorf("delete old %s: %w", k.what, err))
				if batch.Passes(err) {
					return total, errors.Join(errs...)
				}
			}
			left = left || k.more
		}
	}
	r.note(kinds)
	return total, errors.Join(errs...)
}

func (r *Retention) kinds() []kind {
	var out []kind
	now := r.StoreClock.Now()
	for _, k := range []struct {
		what  string
		days  int
		purge purge
	}{
		{"executions", r.Days.Executions, r.Store.PurgeExecutions},
		{"backfills", r.Days.Executions, r.Store.PurgeBackfills},
		{"versions of jobs", r.versionDays(), r.purgeVersions},
		{"deleted jobs", r.Days.Executions, r.Store.PurgeJobs},
		{"logs", r.Days.Logs, r.Store.PurgeLogs},
		{"metrics by minute", min(r.metricDays(minuteDays), minuteDays), r.purgeMetrics(series.Minute)},
		{"metrics by hour", r.metricDays(hourDays), r.purgeMetrics(series.Hour)},
		{"metrics by day", r.metricDays(dayDays), r.purgeMetrics(series.Day)},
		{"other records", r.Days.Metrics, r.Store.PurgeOthers},
		{"audit entries", r.Days.Audit, r.Store.PurgeAudit},
		{"nodes", r.Days.Nodes, r.forgetNodes},
		{"alerts", r.Days.Alerts, r.Store.PurgeAlerts},
		{"reports", r.Days.Alerts, r.Store.PurgeReports},
		{"rows set aside", entity.AsideDays, r.Store.PurgeAsides},
	} {
		if k.days > 0 {
			out = append(out, kind{what: k.what, before: now.AddDate(0, 0, -k.days), purge: k.purge, more: true})
		}
	}
	return out
}

// The days that rows of time series stay: those of a minute, and at least those of an hour and of a day. Each period is
// made from the one before, which must still be there.
const (
	minuteDays = 2
	hourDays   = 3
	dayDays    = 400
)

// metricDays returns how long rows of an hour or a day stay; zero keeps them for ever.
func (r *Retention) metricDays(least int) int {
	if r.Days.Metrics <= 0 {
		return 0
	}
	return max(r.Days.Metrics, least)
}

func (r *Retention) purgeMetrics(period time.Duration) purge {
	return func(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
		return r.Store.PurgeMetrics(ctx, period, before, limit)
	}
}

// versionDays is for how long runs may name the versions of jobs.
func (r *Retention) versionDays() int {
	if r.JobVersions <= 0 {
		return 0
	}
	return r.Days.Executions
}

func (r *Retention) purgeVersions(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	return r.Store.PurgeVersions(ctx, before, r.JobVersions, limit)
}

func (r *Retention) forgetNodes(ctx context.Context, before time.Time, _ int) (repository.Purged, error) {
	n, err := r.Store.ForgetNodes(ctx, before)
	return repository.Purged{Deleted: n}, err
}

// step deletes some rows of a kind, and rests for half the time that this took:
// the store has other work.
func (r *Retention) step(ctx context.Context, k *kind) (int, error) {
	began := r.Clock.Monotonic()
	p, err := k.purge(ctx, k.before, purgeBatch)
	k.more, k.reached = p.More, p.Reached
	if err == nil && p.More {
		_ = clock.Sleep(ctx, r.Clock, (r.Clock.Monotonic()-began)/2)
	}
	return p.Deleted, err
}

// note remembers what a run has left, and tells when that goes on for some runs,
// and when it is over.
func (r *Retention) note(kinds []kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.late = r.Clock.Monotonic(), map[string]time.Duration{}
	for _, k := range kinds {
		if k.more {
			r.late[k.what] = 0
			if !k.reached.IsZero() {
				r.late[k.what] = max(k.before.Sub(k.reached), 0)
			}
		}
	}
	if r.runs++; len(r.late) == 0 {
		r.runs = 0
	}
	switch {
	case r.runs >= behindRuns && !r.warned:
		r.warned = true
		r.Logger.Warn("old rows are deleted more slowly than they grow old", "left", r.describe())
	case r.runs == 0 && r.warned:
		r.warned = false
		r.Logger.Info("all old rows are deleted again")
	}
}

// Behind says that the deletion of old rows does not keep up; it blocks nothing.
func (r *Retention) Behind() (reason string, blocks bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.behind() {
		return "", false
	}
	return "old rows are deleted more slowly than they grow old: " + r.describe(), false
}

// Lag is how far the deletion of old rows is behind, by kind; 0 for one that keeps up. It
// is empty on a node that does not delete.
func (r *Retention) Lag() map[string]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	lag := map[string]time.Duration{}
	if r.late == nil || r.Clock.Monotonic()-r.at >= forgotten {
		return lag
	}
	for _, k := range r.kinds() {
		lag[k.what] = 0
	}
	if r.behind() {
		maps.Copy(lag, r.late)
	}
	return lag
}

// behind: the caller holds the lock.
func (r *Retention) behind() bool {
	return r.runs >= behindRuns && r.Clock.Monotonic()-r.at < forgotten
}

// describe names the kinds of rows that were left; the caller holds the lock.
func (r *Retention) describe() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(r.late)) {
		if by := r.late[what]; by > 0 {
			what += " by " + by.Round(time.Minute).String()
		}
		parts = append(parts, what)
	}
	return strings.Join(parts, ", ")
}

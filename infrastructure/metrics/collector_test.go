package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// scrape is what Prometheus reads, without comments and buckets.
func scrape(t *testing.T, m *metrics.MetricsCollector) map[string]string {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, 200, rec.Code)
	values := map[string]string{}
	for line := range strings.Lines(rec.Body.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			values[name] = value
		}
	}
	return values
}

func TestWhatHappensIsCounted(t *testing.T) {
	m := metrics.New()
	m.Fired(entity.StatusRunning, entity.ReasonNone, 3)
	m.Fired(entity.StatusSkipped, entity.ReasonOverlap, 2)
	m.FireBatch(5, 20*time.Millisecond)
	m.CompleteBatch(7, 4*time.Millisecond)
	m.DuplicateFire()
	m.PoisonFire()
	m.Started(30 * time.Millisecond)
	m.Ended(entity.StatusSuccess, entity.ReasonNone, 2*time.Second, false)
	m.Ended(entity.StatusFailed, entity.ReasonExitCode, time.Second, true)
	m.Ended(entity.StatusFailed, entity.ReasonExitCode, time.Second, false)
	m.RefusedReport()
	m.Recovered(4)
	m.Query("job.due", 3*time.Millisecond, nil)
	m.Query("job.due", 3*time.Millisecond, errors.New("away"))
	got := scrape(t, m)
	for name, want := range map[string]string{
		`ps_fires_total{reason="",status="RUNNING"}`:               "3",
		`ps_fires_total{reason="OVERLAP",status="SKIPPED"}`:        "2",
		`ps_batch_size_sum{kind="fire"}`:                           "5",
		`ps_batch_size_sum{kind="complete"}`:                       "7",
		`ps_batch_duration_seconds_count{kind="fire"}`:             "1",
		`ps_duplicate_fires_total`:                                 "1",
		`ps_poison_fires_total`:                                    "1",
		`ps_start_lateness_seconds_bucket{le="0.025"}`:             "0",
		`ps_start_lateness_seconds_bucket{le="0.06"}`:              "1",
		`ps_executions_total{reason="",status="SUCCESS"}`:          "1",
		`ps_executions_total{reason="EXIT_CODE",status="WAITING"}`: "1",
		`ps_executions_total{reason="EXIT_CODE",status="FAILED"}`:  "1",
		`ps_execution_duration_seconds_sum{status="SUCCESS"}`:      "2",
		`ps_execution_duration_seconds_count{status="FAILED"}`:     "2",
		`ps_refused_reports_total`:                                 "1",
		`ps_lost_runs_total`:                                       "4",
		`ps_store_queries_total{query="job.due",result="ok"}`:      "1",
		`ps_store_queries_total{query="job.due",result="error"}`:   "1",
		`ps_store_query_duration_seconds_count{query="job.due"}`:   "2",
	} {
		require.Equal(t, want, got[name], name)
	}
	require.NotEmpty(t, got["go_goroutines"])
}

type queue map[entity.ClaimKey]int

func (q queue) CountRange(_ context.Context, r repository.ClaimRange) (int, error) {
	if q == nil {
		return 0, errors.New("away")
	}
	return min(q[r.Lo], r.Limit), nil
}

type node struct{}

func (node) Load(kind entity.SlotKind) (running, slots int) {
	return [2]int{3, 1}[kind], [2]int{8, 2}[kind]
}
func (node) HeldEnds() int         { return 2 }
func (node) Held() int             { return 17 }
func (node) Locked() int           { return 2 }
func (node) Leads() bool           { return true }
func (node) Offset() time.Duration { return -2500 * time.Millisecond }
func (node) Ages() map[string]time.Duration {
	return map[string]time.Duration{"scan": 1500 * time.Millisecond}
}

func TestGaugesAreReadWhenAsked(t *testing.T) {
	m := metrics.New()
	m.Watch(queue{
		entity.ReadySpan().Lo: 5, entity.ScheduledSpan().Lo: 6, entity.UnroutableSpan().Lo: 3,
		entity.WaitHandler.Spans()[0].Lo: 2, entity.QueuedSpan().Lo: 1_000_000, entity.DetachedSpan().Lo: 4,
	}, node{}, node{},
		node{}, node{}, func() []string { return []string{"redis", "duty", "duty"} })
	got := scrape(t, m)
	for name, want := range map[string]string{
		`ps_queue_depth{state="ready"}`:         "5",
		`ps_queue_depth{state="parked"}`:        "6",
		`ps_queue_depth{state="unplaced"}`:      "3",
		`ps_queue_depth{state="detached"}`:      "4",
		`ps_unplaced_runs{waits_for="NODE"}`:    "1",
		`ps_unplaced_runs{waits_for="COMMAND"}`: "0",
		`ps_unplaced_runs{waits_for="HANDLER"}`: "2",
		`ps_command_running`:                    "1",
		`ps_command_slots`:                      "2",
		`ps_queue_depth{state="queued"}`:        "100000",
		`ps_running`:                            "3",
		`ps_slots`:                              "8",
		`ps_held_ends`:                          "2",
		`ps_due_soon`:                           "17",
		`ps_jobs_locked`:                        "2",
		`ps_loop_age_seconds{loop="scan"}`:      "1.5",
		`ps_duties_leader`:                      "1",
		`ps_clock_offset_seconds`:               "-2.5",
		`ps_degraded{part="duty"}`:              "1",
		`ps_degraded{part="redis"}`:             "1",
	} {
		require.Equal(t, want, got[name], name)
	}
}

// A store that is away takes its own gauges out of a scrape, not the others.
func TestAScrapeOutlivesTheStore(t *testing.T) {
	m := metrics.New()
	m.Watch(queue(nil), node{}, node{}, node{}, node{}, func() []string { return nil })
	got := scrape(t, m)
	require.NotContains(t, got, `ps_queue_depth{state="ready"}`)
	require.Equal(t, "3", got["ps_running"])
}

func TestLatenessIsReadFromItsBuckets(t *testing.T) {
	m := metrics.New()
	_, _, known := m.Lateness()
	require.False(t, known)
	for range 98 {
		m.Started(3 * time.Millisecond)
	}
	m.Started(2 * time.Second)
	m.Started(2 * time.Hour)
	p50, p99, known := m.Lateness()
	require.True(t, known)
	require.InDelta(t, 3.8, p50.Seconds()*1000, 0.1, "within its bucket, 2.5 to 5 ms")
	require.Equal(t, 2500*time.Millisecond, p99)
	for range 100 {
		m.Started(2 * time.Hour)
	}
	_, p99, _ = m.Lateness()
	require.Equal(t, 600*time.Second, p99, "beyond the last bucket nothing is known")
}

// lags is a retention that is behind.
type lags map[string]time.Duration

func (l lags) Lag() map[string]time.Duration { return l }

func TestTheLagOfRetentionIsShownWhileThereIsOne(t *testing.T) {
	m := metrics.New()
	behind := lags{"logs": 90 * time.Minute}
	m.WatchRetention(behind)
	require.Equal(t, "5400", scrape(t, m)[`ps_retention_lag_seconds{rows="logs"}`])
	delete(behind, "logs")
	require.NotContains(t, scrape(t, m), `ps_retention_lag_seconds{rows="logs"}`)
}

package metrics_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
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
	m := metrics.New(clock.NewSystem(), 200)
	m.Fired(entity.StatusRunning, entity.ReasonNone, 3)
	m.Fired(entity.StatusSkipped, entity.ReasonOverlap, 2)
	m.FireBatch(5, 20*time.Millisecond)
	m.CompleteBatch(7, 4*time.Millisecond)
	m.DuplicateFire()
	m.PoisonFire()
	job := &entity.Job{ID: "j", Group: "g", Name: "settle"}
	m.Started(entity.AttemptStart{Job: job, Lateness: 30 * time.Millisecond})
	m.Ended(entity.AttemptEnd{Job: job, Status: entity.StatusSuccess, Took: 2 * time.Second})
	failed := entity.AttemptEnd{Job: job, Status: entity.StatusFailed, Reason: entity.ReasonExitCode, Took: time.Second}
	m.Ended(failed)
	failed.Retried = true
	m.Ended(failed)
	m.Ended(entity.AttemptEnd{Status: entity.StatusFailed, Reason: entity.ReasonNodeLost})
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
		`ps_executions_total{reason="NODE_LOST",status="FAILED"}`:  "1",

		`ps_job_executions_total{group="g",job_name="settle",status="SUCCESS"}`: "1",
		`ps_job_executions_total{group="g",job_name="settle",status="FAILED"}`:  "1",
		`ps_job_executions_total{group="g",job_name="settle",status="WAITING"}`: "1",
		`ps_job_duration_seconds_sum{group="g",job_name="settle"}`:              "4",
		`ps_refused_reports_total`:                               "1",
		`ps_lost_runs_total`:                                     "4",
		`ps_store_queries_total{query="job.due",result="ok"}`:    "1",
		`ps_store_queries_total{query="job.due",result="error"}`: "1",
		`ps_store_query_duration_seconds_count{query="job.due"}`: "2",
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

func (q queue) CountLetters(context.Context, []string, int) (int, bool, error) {
	if q == nil {
		return 0, false, errors.New("away")
	}
	return 9, false, nil
}

// sources are those of a node that leads, over a queue.
func sources(q queue) metrics.Sources {
	return metrics.Sources{
		Queue: q, Runs: node{}, Plans: node{}, Loops: node{}, Clock: node{},
		Degraded:   func() []string { return []string{"redis", "duty", "duty"} },
		Partitions: func() int { return 64 },
		Nodes: func() []entity.Node {
			return []entity.Node{{Status: entity.NodeUp}, {Status: entity.NodeUp}, {Status: entity.NodeSuspect}}
		},
		Pools: func() map[string]sql.DBStats {
			return map[string]sql.DBStats{"engine": {InUse: 2, Idle: 3, MaxOpenConnections: 20, WaitDuration: time.Second}}
		},
		Redis: func() metrics.RedisPool { return metrics.RedisPool{Up: true, Open: 5, Idle: 4, Timeouts: 6} },
		Host:  node{},
		Kafka: func() bool { return q != nil }, Backlog: waiting{q}, Dropped: func() int64 { return 3 },
	}
}

// waiting is a backlog that can be counted while the queue can.
type waiting struct{ queue }

func (w waiting) Events(context.Context, int) (map[string]int, error) {
	if w.queue == nil {
		return nil, errors.New("away")
	}
	return map[string]int{"rules": 7, "kafka": 8}, nil
}

func (w waiting) Alerts(context.Context, int) (map[metrics.AlertState]int, error) {
	if w.queue == nil {
		return nil, errors.New("away")
	}
	return map[metrics.AlertState]int{{Level: "CRITICAL", Status: "FIRING"}: 2, {Level: "INFO", Status: "FIRING"}: 0}, nil
}

func (w waiting) OldestEnd(context.Context) (time.Time, bool, error) {
	if w.queue == nil {
		return time.Time{}, false, errors.New("away")
	}
	return noon.Add(-90 * time.Second), true, nil
}

// noon is now by the clock of the store.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

type node struct{}

func (node) Usage() hostmetrics.Usage {
	return hostmetrics.Usage{
		CPU: 0.25, Cores: 2, Memory: 100, MemoryLimit: 400, DiskUsed: 30, DiskSize: 120, Load1: 1.5, Load5: 1, Load15: 0.5,
	}
}

func (node) Load(kind entity.SlotKind) (running, slots int) {
	return [2]int{3, 1}[kind], [2]int{8, 2}[kind]
}
func (node) HeldEnds() int         { return 2 }
func (node) Held() int             { return 17 }
func (node) Locked() int           { return 2 }
func (node) Leads() bool           { return true }
func (node) Offset() time.Duration { return -2500 * time.Millisecond }
func (node) Now() time.Time        { return noon }
func (node) Ages() map[string]time.Duration {
	return map[string]time.Duration{"scan": 1500 * time.Millisecond}
}

func TestGaugesAreReadWhenAsked(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 200)
	m.Watch(sources(queue{
		entity.ReadySpan().Lo: 5, entity.ScheduledSpan().Lo: 6, entity.UnroutableSpan().Lo: 3,
		entity.WaitHandler.Spans()[0].Lo: 2, entity.QueuedSpan().Lo: 1_000_000, entity.DetachedSpan().Lo: 4,
	}))
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
		`ps_dead_letters`:                       "9",
		`ps_nodes{status="UP"}`:                 "2",
		`ps_nodes{status="DOWN"}`:               "0",
		`ps_partitions`:                         "64",
		`ps_redis_up`:                           "1",
		`ps_redis_connections{state="used"}`:    "1",
		`ps_host_cpu_usage_ratio`:               "0.25",
		`ps_host_memory_limit_bytes`:            "400",
		`ps_host_disk_size_bytes`:               "120",
		`ps_host_load1`:                         "1.5",

		`ps_store_connections{pool="engine",state="used"}`: "2",
		`ps_outbox_events{reader="rules"}`:                 "7",
		`ps_outbox_events{reader="kafka"}`:                 "8",
		`ps_alerts{level="CRITICAL",status="FIRING"}`:      "2",
		`ps_alerts{level="INFO",status="FIRING"}`:          "0",
		`ps_statistics_lag_seconds`:                        "90",
		`ps_kafka_up`:                                      "1",
		`ps_metric_rows_dropped_total`:                     "3",

		`ps_store_connections_max{pool="engine"}`:               "20",
		`ps_store_connection_wait_seconds_total{pool="engine"}`: "1",
	} {
		require.Equal(t, want, got[name], name)
	}
}

// A store that is away takes its own gauges out of a scrape, not the others.
func TestAScrapeOutlivesTheStore(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 200)
	m.Watch(sources(nil))
	got := scrape(t, m)
	require.NotContains(t, got, `ps_queue_depth{state="ready"}`)
	require.NotContains(t, got, `ps_outbox_events{reader="rules"}`)
	require.NotContains(t, got, `ps_alerts{level="CRITICAL",status="FIRING"}`)
	require.NotContains(t, got, `ps_statistics_lag_seconds`, "nobody knows")
	require.Equal(t, "3", got["ps_running"])
	require.Equal(t, "0", got["ps_kafka_up"])
}

func TestCallsOfServersAreCounted(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 200)
	require.NotContains(t, scrape(t, m), "ps_rules_last_evaluation_timestamp_seconds", "0 would be the year 1970")
	locks := m.LockCall("store")
	locks("take", true, nil)
	locks("take", false, nil)
	locks("renew", false, errors.New("away"))
	m.RedisCall(3*time.Millisecond, nil)
	m.RedisCall(time.Second, errors.New("away"))
	m.Published(map[string]int{"executions": 4}, map[string]int{"executions": 1, "alerts": 2}, time.Second)
	m.Evaluated(noon)
	m.Delivered("EMAIL", "SENT")
	m.Build("v1.2.3")
	m.CallRefused("/jobs/trial")()
	m.ConnectionRefused("total")
	m.WorkerCalled("poll", 200, "shop")
	got := scrape(t, m)
	for name, want := range map[string]string{
		`ps_lock_calls_total{locker="store",operation="take",result="granted"}`: "1",
		`ps_lock_calls_total{locker="store",operation="take",result="refused"}`: "1",
		`ps_lock_calls_total{locker="store",operation="renew",result="error"}`:  "1",
		`ps_redis_call_duration_seconds_count{result="ok"}`:                     "1",
		`ps_redis_call_duration_seconds_count{result="error"}`:                  "1",
		`ps_kafka_events_total{result="taken",topic="executions"}`:              "4",
		`ps_kafka_events_total{result="failed",topic="executions"}`:             "1",
		`ps_kafka_events_total{result="failed",topic="alerts"}`:                 "2",
		`ps_kafka_publish_duration_seconds_count`:                               "1",
		`ps_rules_last_evaluation_timestamp_seconds`:                            "1.7829072e+09",
		`ps_deliveries_total{channel="EMAIL",result="SENT"}`:                    "1",
		`ps_calls_refused_total{route="/jobs/trial"}`:                           "1",
		`ps_connections_refused_total{reason="total"}`:                          "1",
		`ps_connections_refused_total{reason="body"}`:                           "0",
		`ps_worker_calls_total{call="poll",group="shop",status="200"}`:          "1",
		`ps_build_info{goversion="` + runtime.Version() + `",version="v1.2.3"}`: "1",
	} {
		require.Equal(t, want, got[name], name)
	}
}

func TestLatenessIsReadFromItsBuckets(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 200)
	_, _, known := m.Lateness()
	require.False(t, known)
	for range 98 {
		m.Started(entity.AttemptStart{Lateness: 3 * time.Millisecond})
	}
	m.Started(entity.AttemptStart{Lateness: 2 * time.Second})
	m.Started(entity.AttemptStart{Lateness: 2 * time.Hour})
	p50, p99, known := m.Lateness()
	require.True(t, known)
	require.InDelta(t, 3.8, p50.Seconds()*1000, 0.1, "within its bucket, 2.5 to 5 ms")
	require.InDelta(t, 2, p99.Seconds(), 0.5, "within its bucket, 1 to 2.5 s")
}

// A quantile lies within the bucket of the value that it stands for, and is never more than the greatest value.
func TestNoQuantileExceedsTheGreatestValue(t *testing.T) {
	ms := func(values ...int) (out []time.Duration) {
		for _, v := range values {
			out = append(out, time.Duration(v)*time.Millisecond)
		}
		return out
	}
	for name, late := range map[string][]time.Duration{
		"one": ms(7), "one at once": ms(0), "one very late": ms(210_689),
		"after a night off":       ms(1, 1, 1, 1, 1, 190_000, 200_000, 205_500, 210_689),
		"all in one bucket":       ms(310, 311, 312, 313, 400),
		"beyond the last bucket":  ms(3, 7_200_000),
		"all beyond it":           ms(700_000, 900_000, 7_200_000),
		"on the bound of buckets": ms(1000, 1000, 1000),
	} {
		m := metrics.New(clock.NewSystem(), 200)
		most := time.Duration(0)
		for _, d := range late {
			m.Started(entity.AttemptStart{Lateness: d})
			most = max(most, d)
		}
		p50, p99, known := m.Lateness()
		require.True(t, known)
		require.LessOrEqual(t, p50, p99, name)
		require.LessOrEqual(t, p99, most, name)
		require.Greater(t, p99, most*9/10-time.Nanosecond, name)
	}
}

// lags is a retention that is behind.
type lags map[string]time.Duration

func (l lags) Lag() map[string]time.Duration { return l }

func TestTheLagOfRetentionIsShownWhileThereIsOne(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 200)
	behind := lags{"logs": 90 * time.Minute}
	m.WatchRetention(behind)
	require.Equal(t, "5400", scrape(t, m)[`ps_retention_lag_seconds{rows="logs"}`])
	delete(behind, "logs")
	require.NotContains(t, scrape(t, m), `ps_retention_lag_seconds{rows="logs"}`)
}

package metrics_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
	"github.com/platform-scheduler/platform-scheduler/test/promtest"
)

func jobOf(n int) *entity.Job {
	return &entity.Job{ID: fmt.Sprint("id-", n), Group: "g", Name: fmt.Sprint("job-", n)}
}

func ends(m *metrics.MetricsCollector, job *entity.Job, status entity.Status) {
	m.Ended(entity.AttemptEnd{Job: job, ExecutionID: "e", Status: status, Took: time.Second})
}

// named returns the jobs that a scrape names, with the count of a status.
func named(t *testing.T, m *metrics.MetricsCollector, status string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, value := range scrape(t, m) {
		if rest, ok := strings.CutPrefix(name, "ps_job_executions_total{"); ok && strings.Contains(rest, status) {
			_, job, _ := strings.Cut(rest, `job_name="`)
			job, _, _ = strings.Cut(job, `"`)
			found[job] = value
		}
	}
	return found
}

// Labels are bounded: who failed last has a place first, then who ran last.
func TestJobsAreNamedUpToABound(t *testing.T) {
	c := clocktest.NewManual(time.Unix(1e9, 0))
	m := metrics.New(c, 2)
	for n := range 4 {
		ends(m, jobOf(n), entity.StatusSuccess)
	}
	require.Equal(t, map[string]string{"job-0": "1", "job-1": "1", "other": "2"}, named(t, m, "SUCCESS"))
	c.Advance(time.Minute)
	ends(m, jobOf(1), entity.StatusSuccess)
	ends(m, jobOf(2), entity.StatusFailed)
	require.Equal(t, map[string]string{"job-2": "1"}, named(t, m, "FAILED"),
		"a failure takes the place of whoever ran first")
	require.Equal(t, map[string]string{"job-1": "2", "other": "2"}, named(t, m, "SUCCESS"))
	ends(m, jobOf(3), entity.StatusFailed)
	ends(m, jobOf(0), entity.StatusFailed)
	require.Equal(t, map[string]string{"job-2": "1", "job-3": "1", "other": "1"}, named(t, m, "FAILED"),
		"who has failed just now keeps its place")
	c.Advance(11 * time.Minute)
	ends(m, jobOf(7), entity.StatusSuccess)
	require.Contains(t, named(t, m, "SUCCESS"), "job-7", "a job that runs takes the place of one that does not")
	c.Advance(2 * time.Hour)
	m.Watch(sources(nil))
	m.Sampler().Sample(t.Context(), false)
	require.Equal(t, []string{"other"}, keys(named(t, m, "")), "in the end places become free")
}

func keys(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// A node whose metrics everybody can read names no job.
func TestWithoutPlacesNoJobIsNamed(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 0)
	ends(m, jobOf(1), entity.StatusFailed)
	require.Equal(t, map[string]string{"other": "1"}, named(t, m, "FAILED"))
}

// A deleted job and the new one of its name are one series: Prometheus refuses a scrape with doubles.
func TestJobsOfOneNameAreOneSeries(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 10)
	for n := range 2 {
		job := jobOf(n)
		job.Name = "same"
		ends(m, job, entity.StatusSuccess)
	}
	require.Equal(t, map[string]string{"same": "2"}, named(t, m, "SUCCESS"))
}

func get(m *metrics.MetricsCollector, accept string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	m.Handler().ServeHTTP(rec, r)
	return rec
}

// Exemplars lead from a slow bucket to an execution; native histograms go to scrapers that ask.
func TestScrapersGetExemplarsAndNativeHistograms(t *testing.T) {
	c := clocktest.NewManual(time.Unix(1e9, 0))
	m := metrics.New(c, 10)
	for range 2 {
		m.Ended(entity.AttemptEnd{Job: jobOf(1), ExecutionID: "run-1", Status: entity.StatusSuccess, Took: time.Second})
		m.Started(entity.AttemptStart{Job: jobOf(1), ExecutionID: "run-2", Lateness: time.Second})
	}
	open := get(m, "application/openmetrics-text;version=1.0.0").Body.String()
	for _, want := range []string{`execution_id="run-1"`, `execution_id="run-2"`} {
		require.Equal(t, 1, strings.Count(open, want), want)
	}
	binary := get(m, string(expfmt.NewFormat(expfmt.TypeProtoDelim))).Body.Bytes()
	require.NotContains(t, string(binary), "le=")
	plain := get(m, "text/plain").Body.String()
	require.NotContains(t, plain, "run-1", "the classic text knows no exemplars")
}

// The names and helps keep the conventions of Prometheus.
func TestPromtoolFindsNoFault(t *testing.T) {
	tool := promtest.NeedPrometheus(t, "promtool")
	m := metrics.New(clock.NewSystem(), 10)
	m.Watch(sources(queue{entity.ReadySpan().Lo: 1}))
	m.WatchRetention(lags{"logs": time.Minute})
	m.Commands(metrics.Isolation{User: "nobody"})
	m.Fired(entity.StatusRunning, entity.ReasonNone, 1)
	m.FireBatch(1, time.Second)
	m.UnreadableRow("job")
	m.Query("q", time.Second, nil)
	ends(m, jobOf(1), entity.StatusSuccess)
	ends(m, jobOf(1), entity.StatusFailed)
	m.Beat(time.Second, true)
	m.Asked("promise")
	m.Stopped("cut")
	m.Death("LEASE", time.Second)
	m.LockCall("store")("take", true, nil)
	m.RedisCall(time.Second, nil)
	m.Published(map[string]int{"executions": 1}, map[string]int{"executions": 1}, time.Second)
	m.Evaluated(noon)
	m.Delivered("EMAIL", "SENT")
	m.OutboxDropped("kafka", 1)
	m.Build("v1")
	check := exec.CommandContext(t.Context(), tool, "check", "metrics")
	check.Stdin = get(m, "text/plain").Body
	out, err := check.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
}

// What runs with every execution allocates nothing, save an exemplar a second.
func TestInstrumentsOfTheHotPathDoNotAllocate(t *testing.T) {
	m := metrics.New(clocktest.NewManual(time.Unix(1e9, 0)), 10)
	job, late := jobOf(1), time.Duration(0)
	run := func() {
		late += 100 * time.Microsecond
		m.Started(entity.AttemptStart{Job: job, ExecutionID: "e", Lateness: late})
		m.Ended(entity.AttemptEnd{Job: job, ExecutionID: "e", Status: entity.StatusSuccess, Took: late})
		m.Ended(entity.AttemptEnd{Job: job, ExecutionID: "e", Status: entity.StatusFailed, Took: late})
		m.Fired(entity.StatusRunning, entity.ReasonNone, 1)
	}
	for range 20_000 {
		run() // meets every native bucket
	}
	late = 0
	require.LessOrEqual(t, testing.AllocsPerRun(1000, run), 0.1)
}

func TestTheSampleHoldsOnlyKnownSeries(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 10)
	m.Watch(sources(queue{entity.ReadySpan().Lo: 5}))
	m.Fired(entity.StatusRunning, entity.ReasonNone, 3)
	m.Query("q", time.Second, fmt.Errorf("away"))
	m.Started(entity.AttemptStart{Job: jobOf(1), Lateness: 30 * time.Millisecond})
	ends(m, jobOf(1), entity.StatusDead)
	s := m.Sampler()
	known, got := series.NewCatalogue(), map[string]series.Measure{}
	for _, measure := range s.Sample(t.Context(), true) {
		def, ok := known.Find(measure.Name)
		require.True(t, ok, measure.Name)
		require.Equal(t, def.Scope == series.Group, measure.Group != "", measure.Name)
		got[measure.Name] = measure
	}
	for _, name := range known.Names() {
		require.Contains(t, got, name, "every series is measured")
	}
	for name, want := range map[string]float64{
		"node.fires": 3, "executions.ended": 1, "executions.failed": 1, "executions.durationMs": 1000,
		"executions.latenessMs": 30, "node.storeQueries": 1, "node.storeErrors": 1, "node.storeConnections": 2,
		"node.cpu": 0.25, "node.diskUsed": 0.25, "cluster.ready": 5, "cluster.deadLetters": 9, "cluster.nodesUp": 2,
		"node.partitions": 64, "node.redisErrors": 6,
	} {
		require.InDelta(t, want, got[name].Value, 1e-9, name)
	}
	for _, measure := range s.Sample(t.Context(), false) {
		require.NotContains(t, measure.Name, "cluster.", "the leader alone tells of the cluster")
		require.NotContains(t, measure.Name, "node.lateness", "nothing has started since")
	}
}

// Groups are bounded too.
func TestGroupsAreCountedUpToABound(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 0)
	m.Watch(sources(nil))
	for n := range 250 {
		job := jobOf(n)
		job.Group = fmt.Sprint("g", n)
		ends(m, job, entity.StatusSuccess)
	}
	groups := map[string]float64{}
	for _, measure := range m.Sampler().Sample(t.Context(), false) {
		if measure.Name == "executions.ended" {
			groups[measure.Group] = measure.Value
		}
	}
	require.Len(t, groups, 201)
	require.InDelta(t, 50.0, groups[series.OtherGroup], 0)
}

func BenchmarkScrape(b *testing.B) {
	m := metrics.New(clock.NewSystem(), 200)
	m.Watch(sources(queue{}))
	for n := range 100_000 {
		m.Ended(entity.AttemptEnd{
			Job: jobOf(n), ExecutionID: "e", Status: entity.StatusSuccess, Took: time.Duration(rand.Int64N(1e9)),
		})
	}
	for b.Loop() {
		get(m, "text/plain")
	}
}

// Each sample knows the greatest lateness since the one before.
func TestASampleIsNoLaterThanItsGreatestStart(t *testing.T) {
	m := metrics.New(clock.NewSystem(), 200)
	m.Watch(sources(queue{}))
	s := m.Sampler()
	for _, late := range []time.Duration{210_689 * time.Millisecond, 301 * time.Millisecond, 400 * time.Second} {
		m.Started(entity.AttemptStart{Lateness: late})
		for _, measure := range s.Sample(t.Context(), false) {
			if measure.Name == "node.latenessP99Ms" {
				require.LessOrEqual(t, measure.Value, float64(late.Milliseconds()))
				require.Greater(t, measure.Value, 0.9*float64(late.Milliseconds()))
			}
		}
	}
}

func BenchmarkSample(b *testing.B) {
	m := metrics.New(clock.NewSystem(), 200)
	m.Watch(sources(queue{}))
	for n := range 1000 {
		ends(m, jobOf(n), entity.StatusSuccess)
	}
	s := m.Sampler()
	for b.Loop() {
		s.Sample(b.Context(), true)
	}
}

func BenchmarkEnded(b *testing.B) {
	m := metrics.New(clock.NewSystem(), 200)
	job := jobOf(1)
	for b.Loop() {
		m.Started(entity.AttemptStart{Job: job, ExecutionID: "e", Lateness: time.Millisecond})
		m.Ended(entity.AttemptEnd{Job: job, ExecutionID: "e", Status: entity.StatusSuccess, Took: time.Millisecond})
	}
}

// Package metrics counts the work of the node and serves the counts to Prometheus.
package metrics

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MetricsCollector holds the node's instruments. Their labels are bounded: states, reasons and
// names of queries, never ids. Safe for concurrent use.
type MetricsCollector struct {
	members
	events
	servers
	doors
	registry   *prometheus.Registry
	jobs       *jobs
	sources    Sources
	counts     *counts
	fired      atomic.Uint64
	fires      *prometheus.CounterVec
	batchSize  *prometheus.HistogramVec
	batchTook  *prometheus.HistogramVec
	duplicates prometheus.Counter
	poison     prometheus.Counter
	locked     prometheus.Counter
	unreadable *prometheus.CounterVec
	aside      *prometheus.CounterVec
	lateness   *traced
	// latest is the greatest lateness, latestOfSample that since the latest sample of the series.
	latest, latestOfSample greatest
	duration               *prometheus.HistogramVec
	ended                  *prometheus.CounterVec
	refused                prometheus.Counter
	recovered              prometheus.Counter
	queries                *prometheus.CounterVec
	queryTook              *prometheus.HistogramVec
	ends                   map[entity.Status]*traced
	okCount                prometheus.Counter
	byQuery                sync.Map // name → *queryInstruments
}

// latenessBuckets are in seconds. They are fine around the promised lateness.
func latenessBuckets() []float64 {
	return []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.06, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600}
}

func durationBuckets() []float64 {
	return []float64{0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200}
}

// New returns a collector with a registry of its own. It names at most so many jobs in labels; the others are one.
func New(c clock.Clock, jobLabels int) *MetricsCollector {
	r := prometheus.NewRegistry()
	build := maker{r}
	kind := []string{"kind"}
	m := &MetricsCollector{
		registry: r, jobs: newJobs(c, jobLabels),
		members: newMembers(build), events: newEvents(build), servers: newServers(build), doors: newDoors(build),
		fires: build.counters("ps_fires_total", "Executions recorded by fires, by the state they were born in.",
			[]string{"status", "reason"}),
		batchSize: build.histograms(prometheus.HistogramOpts{
			Name: "ps_batch_size",
			Help: "Rows of one engine transaction.", Buckets: []float64{1, 2, 5, 10, 25, 50, 100, 250, 500},
		}, "kind"),
		batchTook: build.histograms(native("ps_batch_duration_seconds", "Time of one engine transaction.",
			latenessBuckets()), "kind"),
		duplicates: build.counter("ps_duplicate_fires_total",
			"Fires whose id was recorded before the cursor passed them. Alert on any."),
		poison: build.counter("ps_poison_fires_total", "Fires that the store refused and that were recorded as failed."),
		locked: build.counter("ps_locked_fires_total", "Tries to fire a due job whose row somebody else had locked."),
		unreadable: build.counters("ps_unreadable_rows_total",
			"Rows of the store that were met and could not be read, by kind; each time counts. Alert on any.", kind,
			"job", "execution", "group", "node", "backfill"),
		aside: build.counters("ps_set_aside_total",
			"What was set aside because the store refuses it, by kind; each time counts. Alert on any.", kind),
		lateness: newTraced(c, build.histogram(native("ps_start_lateness_seconds", "Handler entry minus due time.",
			latenessBuckets()))),
		duration: build.histograms(native("ps_execution_duration_seconds", "Duration of attempts.", durationBuckets()),
			"status"),
		ended: build.counters("ps_executions_total", "Ends of attempts; status WAITING means that a retry follows.",
			[]string{"status", "reason"}),
		refused: build.counter("ps_refused_reports_total",
			"Results that came from a former holder and were kept as evidence only."),
		recovered: build.counter("ps_lost_runs_total", "Runs whose node was lost."),
		queries: build.counters("ps_store_queries_total", "Statements sent to the store, by name.",
			[]string{"query", "result"}),
		queryTook: build.histograms(native("ps_store_query_duration_seconds", "Time of statements, by name.",
			[]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2}), "query"),
	}
	m.ends = map[entity.Status]*traced{}
	for _, status := range endStatuses()[:attemptStatuses] {
		m.ends[status] = newTraced(c, m.duration.WithLabelValues(string(status)))
	}
	for _, kind := range entity.AsideKinds() {
		m.aside.WithLabelValues(string(kind))
	}
	m.okCount = m.ended.WithLabelValues(string(entity.StatusSuccess), "")
	r.MustRegister(newJobCollector(m.jobs), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics: as text, as OpenMetrics with exemplars, or, with native histograms, in the binary form.
func (m *MetricsCollector) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes, Timeout: scrapeTimeout,
	})
}

// maxScrapes bounds the scrapes at one time.
const maxScrapes = 4

// Registry returns the registry, for gauges that are read at scrape time.
func (m *MetricsCollector) Registry() *prometheus.Registry { return m.registry }

// Fired implements firing.Metrics.
func (m *MetricsCollector) Fired(status entity.Status, reason entity.Reason, n int) {
	m.fires.WithLabelValues(string(status), string(reason)).Add(float64(n))
	m.fired.Add(uint64(n))
}

// FireBatch implements firing.Metrics.
func (m *MetricsCollector) FireBatch(fires int, took time.Duration) { m.batch("fire", fires, took) }

// CompleteBatch implements running.Metrics.
func (m *MetricsCollector) CompleteBatch(runs int, took time.Duration) {
	m.batch("complete", runs, took)
}

func (m *MetricsCollector) batch(kind string, n int, took time.Duration) {
	m.batchSize.WithLabelValues(kind).Observe(float64(n))
	m.batchTook.WithLabelValues(kind).Observe(took.Seconds())
}

// DuplicateFire implements firing.Metrics.
func (m *MetricsCollector) DuplicateFire() { m.duplicates.Inc() }

// PoisonFire implements firing.Metrics.
func (m *MetricsCollector) PoisonFire() { m.poison.Inc() }

// LockedFires implements firing.Metrics.
func (m *MetricsCollector) LockedFires(n int) { m.locked.Add(float64(n)) }

// UnreadableRow counts a row that could not be read.
func (m *MetricsCollector) UnreadableRow(kind string) { m.unreadable.WithLabelValues(kind).Inc() }

// SetAside counts what was set aside.
func (m *MetricsCollector) SetAside(kind string) { m.aside.WithLabelValues(kind).Inc() }

// Started implements running.Metrics.
func (m *MetricsCollector) Started(s entity.AttemptStart) {
	m.latest.observe(s.Lateness)
	m.latestOfSample.observe(s.Lateness)
	m.lateness.observe(s.Lateness.Seconds(), s.ExecutionID)
	if s.Job != nil {
		m.jobs.started(s)
	}
}

// Ended implements running.Metrics.
func (m *MetricsCollector) Ended(e entity.AttemptEnd) {
	if e.Job != nil { // what never began has no duration
		if d := m.ends[e.Status]; d != nil {
			d.observe(e.Took.Seconds(), e.ExecutionID)
		}
		m.jobs.end(e)
	}
	if e.Status == entity.StatusSuccess && e.Reason == entity.ReasonNone {
		m.okCount.Inc()
		return
	}
	status := e.Status
	if e.Retried {
		status = entity.StatusWaiting
	}
	m.ended.WithLabelValues(string(status), string(e.Reason)).Inc()
}

// RefusedReport implements running.Metrics.
func (m *MetricsCollector) RefusedReport() { m.refused.Inc() }

// Recovered implements running.Metrics.
func (m *MetricsCollector) Recovered(n int) { m.recovered.Add(float64(n)) }

// queryInstruments are the instruments of one statement name. They are looked up once, because
// statements run tens of thousands of times a second.
type queryInstruments struct {
	good, failed prometheus.Counter
	took         prometheus.Observer
}

// Query observes one named statement.
func (m *MetricsCollector) Query(name string, took time.Duration, err error) {
	v, ok := m.byQuery.Load(name)
	if !ok {
		v, _ = m.byQuery.LoadOrStore(name, &queryInstruments{
			good:   m.queries.WithLabelValues(name, "ok"),
			failed: m.queries.WithLabelValues(name, "error"),
			took:   m.queryTook.WithLabelValues(name),
		})
	}
	q := v.(*queryInstruments)
	if err != nil {
		q.failed.Inc()
	} else {
		q.good.Inc()
	}
	q.took.Observe(took.Seconds())
}

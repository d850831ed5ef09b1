package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

const (
	// maxGroups bounds the groups that are counted apart; the others count as series.OtherGroup.
	maxGroups = 200
	// staleAfter is how long a job or a group keeps its place without a run.
	staleAfter = time.Hour
	// newcomerAfter and failureAfter are how long a job keeps its place against others: against those that run, and
	// after a failure also against those that fail.
	newcomerAfter = 10 * time.Minute
	failureAfter  = 5 * time.Minute
	// searchEvery bounds how often a job that did well looks for a place.
	searchEvery = time.Second
	// otherJobs stands for all jobs without a place.
	otherJobs = "other"
)

// endStatuses are the statuses under which attempts are counted; WAITING means that a retry follows.
func endStatuses() []entity.Status {
	return []entity.Status{
		entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout, entity.StatusCancelled, entity.StatusDead,
		entity.StatusWaiting,
	}
}

const (
	statuses = 6
	// attemptStatuses is how many of them an attempt can end with.
	attemptStatuses = 5
)

// jobFigures are those of one job.
type jobFigures struct {
	group, name             string
	ended                   [statuses]uint64
	seconds                 float64
	count                   uint64
	lastSuccess, lastFailed time.Time
	// seen and failed are the latest run and failure, in monotonic time; failed is negative for none.
	seen, failed time.Duration
}

// groupFigures are those of one group; totals since it was first met.
type groupFigures struct {
	started, ended, failed, retried uint64
	durationMs, latenessMs          float64
	seen                            time.Duration
}

// jobs counts what happens by job and by group. It allocates nothing for a job that has a place.
type jobs struct {
	clock clock.Clock
	limit int
	index [statuses]entity.Status

	mu     sync.Mutex
	byID   map[string]*jobFigures
	other  jobFigures
	groups map[string]*groupFigures
	// search is when a job that did well may look for a place again.
	search time.Duration
}

func newJobs(c clock.Clock, limit int) *jobs {
	return &jobs{
		clock: c, limit: limit, index: [statuses]entity.Status(endStatuses()), byID: map[string]*jobFigures{},
		other: jobFigures{group: otherJobs, name: otherJobs}, groups: map[string]*groupFigures{},
	}
}

func (j *jobs) started(s entity.AttemptStart) {
	now := j.clock.Monotonic()
	j.mu.Lock()
	defer j.mu.Unlock()
	g := j.group(s.Job.Group, now)
	g.started++
	g.latenessMs += float64(max(s.Lateness, 0)) / float64(time.Millisecond)
}

func (j *jobs) end(e entity.AttemptEnd) {
	now := j.clock.Monotonic()
	failed := e.Status.Failed()
	status := e.Status
	if e.Retried {
		status = entity.StatusWaiting
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	g := j.group(e.Job.Group, now)
	switch {
	case e.Retried:
		g.retried++
	case failed:
		g.failed++
		fallthrough
	default:
		g.ended++
		g.durationMs += float64(e.Took) / float64(time.Millisecond)
	}
	f := j.place(e.Job, now, failed)
	f.seen = now
	f.seconds += e.Took.Seconds()
	f.count++
	for i, s := range j.index {
		if s == status {
			f.ended[i]++
		}
	}
	if failed {
		f.failed, f.lastFailed = now, j.clock.Now()
	} else if e.Status == entity.StatusSuccess {
		f.lastSuccess = j.clock.Now()
	}
}

// place returns the figures of a job, or those of all others. The caller holds the lock.
func (j *jobs) place(job *entity.Job, now time.Duration, failed bool) *jobFigures {
	if f, ok := j.byID[job.ID]; ok {
		f.name = job.Name
		return f
	}
	if j.limit == 0 || len(j.byID) >= j.limit && !j.makeRoom(now, failed) {
		return &j.other
	}
	f := &jobFigures{group: job.Group, name: job.Name, failed: -failureAfter}
	j.byID[job.ID] = f
	return f
}

// makeRoom takes the place of the job that failed and ran the longest ago, if that is long enough.
func (j *jobs) makeRoom(now time.Duration, failed bool) bool {
	if !failed && now < j.search {
		return false
	}
	var id string
	var worst *jobFigures
	for i, f := range j.byID {
		if worst == nil || f.failed < worst.failed || f.failed == worst.failed && f.seen < worst.seen {
			id, worst = i, f
		}
	}
	gone := now-worst.failed >= failureAfter && (failed || now-worst.seen >= newcomerAfter)
	if !gone {
		j.search = now + searchEvery
		return false
	}
	delete(j.byID, id)
	return true
}

// group returns the figures of a group. The caller holds the lock.
func (j *jobs) group(name string, now time.Duration) *groupFigures {
	g, ok := j.groups[name]
	if !ok && len(j.groups) >= maxGroups {
		name = series.OtherGroup
		g, ok = j.groups[name]
	}
	if !ok {
		g = &groupFigures{}
		j.groups[name] = g
	}
	g.seen = now
	return g
}

// measures returns the series of the groups, and forgets groups and jobs that have not run for long.
func (j *jobs) measures() (out []series.Measure) {
	now := j.clock.Monotonic()
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, g := range j.groups {
		for _, m := range [...]struct {
			name  string
			value float64
		}{
			{"executions.started", float64(g.started)},
			{"executions.ended", float64(g.ended)},
			{"executions.failed", float64(g.failed)},
			{"executions.retried", float64(g.retried)},
			{"executions.durationMs", g.durationMs},
			{"executions.latenessMs", g.latenessMs},
		} {
			out = append(out, series.Measure{Name: m.name, Group: name, Value: m.value})
		}
		if now-g.seen >= staleAfter {
			delete(j.groups, name)
		}
	}
	for id, f := range j.byID {
		if now-f.seen >= staleAfter && now-f.failed >= staleAfter {
			delete(j.byID, id)
		}
	}
	return out
}

// figures copies what is counted by job.
func (j *jobs) figures() []jobFigures {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]jobFigures, 0, len(j.byID)+1)
	for _, f := range j.byID {
		out = append(out, *f)
	}
	return append(out, j.other)
}

// jobCollector shows what is counted by job.
type jobCollector struct {
	*jobs
	ended, duration, success, failure *prometheus.Desc
}

func newJobCollector(j *jobs) *jobCollector {
	labels := []string{"group", "job_name"}
	return &jobCollector{
		j,
		prometheus.NewDesc("ps_job_executions_total",
			"Ends of attempts on this node by job, of the jobs that failed or ran last; the rest is the job other. Status "+
				"WAITING means that a retry follows.", []string{"group", "job_name", "status"}, nil),
		prometheus.NewDesc("ps_job_duration_seconds", "Duration of attempts on this node by job.", labels, nil),
		prometheus.NewDesc("ps_job_last_success_timestamp_seconds",
			"When an attempt of the job last succeeded on this node.", labels, nil),
		prometheus.NewDesc("ps_job_last_failure_timestamp_seconds",
			"When an attempt of the job last failed on this node.", labels, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *jobCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.ended, c.duration, c.success, c.failure} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Two jobs may have the same names for a moment, when one is deleted and made
// again; they are shown as one.
func (c *jobCollector) Collect(ch chan<- prometheus.Metric) {
	for _, f := range merged(c.figures()) {
		for i, n := range f.ended {
			if n > 0 {
				ch <- prometheus.MustNewConstMetric(c.ended, prometheus.CounterValue, float64(n), f.group, f.name,
					string(c.index[i]))
			}
		}
		ch <- prometheus.MustNewConstSummary(c.duration, f.count, f.seconds, nil, f.group, f.name)
		for d, at := range map[*prometheus.Desc]time.Time{c.success: f.lastSuccess, c.failure: f.lastFailed} {
			if !at.IsZero() && f.name != otherJobs {
				ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(at.UnixMilli())/1000, f.group, f.name)
			}
		}
	}
}

// merged makes one of figures with the same names.
func merged(all []jobFigures) (out []jobFigures) {
	type key struct{ group, name string }
	seen := map[key]int{}
	for _, f := range all {
		i, known := seen[key{f.group, f.name}]
		if !known {
			seen[key{f.group, f.name}] = len(out)
			out = append(out, f)
			continue
		}
		into := &out[i]
		for s, n := range f.ended {
			into.ended[s] += n
		}
		into.seconds, into.count = into.seconds+f.seconds, into.count+f.count
		into.lastSuccess = later(into.lastSuccess, f.lastSuccess)
		into.lastFailed = later(into.lastFailed, f.lastFailed)
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

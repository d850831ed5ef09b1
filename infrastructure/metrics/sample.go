package metrics

import (
	"context"
	"runtime/metrics"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// Sampler reads the series that the store keeps. Make one for each collector: it remembers the sample before. Not safe
// for concurrent use.
type Sampler struct {
	m *MetricsCollector
	// before holds the lateness histogram of the sample before.
	before *dto.Histogram
}

// Sampler returns a sampler of the instruments. Call it after Watch.
func (m *MetricsCollector) Sampler() *Sampler { return &Sampler{m: m} }

// Sample implements monitoring.Source.
func (s *Sampler) Sample(ctx context.Context, leads bool) []series.Measure {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	out := s.m.jobs.measures()
	add := func(name string, value float64) { out = append(out, series.Measure{Name: name, Value: value}) }
	src := s.m.sources
	running, slots := src.Runs.Load(entity.SlotGeneral)
	commands, commandSlots := src.Runs.Load(entity.SlotCommand)
	add("node.running", float64(running))
	add("node.slots", float64(slots))
	add("node.commandsRunning", float64(commands))
	add("node.commandSlots", float64(commandSlots))
	add("node.fires", float64(s.m.fired.Load()))
	add("node.heldEnds", float64(src.Runs.HeldEnds()))
	add("node.dueSoon", float64(src.Plans.Held()))
	add("node.partitions", float64(src.Partitions()))
	add("node.clockOffsetMs", float64(src.Clock.Offset())/float64(time.Millisecond))
	add("node.degradedParts", float64(len(src.Degraded())))
	oldest := time.Duration(0)
	for _, age := range src.Loops.Ages() {
		oldest = max(oldest, age)
	}
	add("node.oldestTaskSec", oldest.Seconds())
	s.lateness(add)
	s.connections(add)
	s.machine(add)
	found := s.m.counts.read(ctx, 0, leads)
	if leads {
		cluster(add, found, src.Nodes())
	}
	return out
}

// lateness adds quantiles of the starts since the sample before.
func (s *Sampler) lateness(add func(name string, value float64)) {
	var now dto.Metric
	if err := s.m.lateness.of.Write(&now); err != nil {
		return
	}
	most := time.Duration(s.m.latestOfSample.value.Swap(0))
	recent := since(now.GetHistogram(), s.before)
	s.before = now.GetHistogram()
	if recent.GetSampleCount() > 0 {
		add("node.latenessP50Ms", float64(quantile(recent, 0.5, most))/float64(time.Millisecond))
		add("node.latenessP99Ms", float64(quantile(recent, 0.99, most))/float64(time.Millisecond))
	}
}

// since returns the samples of a histogram that are not in an earlier reading.
func since(now, before *dto.Histogram) *dto.Histogram {
	count := now.GetSampleCount() - before.GetSampleCount()
	out := &dto.Histogram{SampleCount: &count}
	for i, b := range now.GetBucket() {
		upTo := b.GetCumulativeCount()
		if i < len(before.GetBucket()) {
			upTo -= before.GetBucket()[i].GetCumulativeCount()
		}
		out.Bucket = append(out.Bucket, &dto.Bucket{CumulativeCount: &upTo, UpperBound: b.UpperBound})
	}
	return out
}

func (s *Sampler) connections(add func(name string, value float64)) {
	var queries, failed uint64
	s.m.byQuery.Range(func(_, v any) bool {
		q := v.(*queryInstruments)
		good, bad := counterValue(q.good), counterValue(q.failed)
		queries, failed = queries+good+bad, failed+bad
		return true
	})
	add("node.storeQueries", float64(queries))
	add("node.storeErrors", float64(failed))
	used, waited := 0, time.Duration(0)
	for _, p := range s.m.sources.Pools() {
		used, waited = used+p.InUse, waited+p.WaitDuration
	}
	add("node.storeConnections", float64(used))
	add("node.storeWaitMs", float64(waited)/float64(time.Millisecond))
	if s.m.sources.Redis != nil {
		r := s.m.sources.Redis()
		add("node.redisConnections", float64(r.Open))
		add("node.redisErrors", float64(r.Timeouts))
	}
}

func counterValue(c interface{ Write(out *dto.Metric) error }) uint64 {
	var now dto.Metric
	if err := c.Write(&now); err != nil {
		return 0
	}
	return uint64(now.GetCounter().GetValue())
}

func (s *Sampler) machine(add func(name string, value float64)) {
	u := s.m.sources.Host.Usage()
	add("node.cpu", u.CPU)
	add("node.memoryBytes", float64(u.Memory))
	add("node.memoryLimitBytes", float64(u.MemoryLimit))
	if u.DiskSize > 0 {
		add("node.diskUsed", float64(u.DiskUsed)/float64(u.DiskSize))
	}
	add("node.load1", u.Load1)
	process := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(process)
	for i, name := range []string{"node.goroutines", "node.heapBytes"} {
		if process[i].Value.Kind() == metrics.KindUint64 {
			add(name, float64(process[i].Value.Uint64()))
		}
	}
}

// cluster adds the series of the cluster. A figure that could not be counted is left out.
func cluster(add func(name string, value float64), found counted, nodes []entity.Node) {
	for state, name := range map[string]string{
		"ready": "cluster.ready", "parked": "cluster.scheduled", "queued": "cluster.queued", "grouped": "cluster.grouped",
		"unplaced": "cluster.unroutable", "detached": "cluster.detached",
	} {
		if n, ok := found.depth[state]; ok {
			add(name, float64(n))
		}
	}
	if found.hasLetters {
		add("cluster.deadLetters", float64(found.letters))
	}
	counts := byStatus(nodes)
	add("cluster.nodesUp", float64(counts[entity.NodeUp]))
	add("cluster.nodesSuspect", float64(counts[entity.NodeSuspect]))
	add("cluster.nodesDown", float64(counts[entity.NodeDown]))
}

package report

import (
	"slices"
)

// Cost is what an execution costs, and how late it starts.
type Cost struct {
	// CPUMicros is the processor time of the process by its executions, in µs.
	CPUMicros     float64 `json:"cpuMicros"`
	LatenessP50Ms float64 `json:"latenessP50Ms"`
	LatenessP99Ms float64 `json:"latenessP99Ms"`
}

// CostOf is that of a load.
func CostOf(r Result) (c Cost) {
	if r.ExecutionsPerSecond > 0 {
		c.CPUMicros = r.CPUPercent * 1e4 / r.ExecutionsPerSecond
	}
	if l := r.LatenessMs; l != nil {
		c.LatenessP50Ms, c.LatenessP99Ms = l.P50, l.P99
	}
	return c
}

// Storm is what failures cost the same load: without them, with a receiver that takes their
// messages, and with one that is down. Each slice has one value a turn.
type Storm struct {
	FailuresPerMinute int    `json:"failuresPerMinute"`
	Calm              []Cost `json:"calm"`
	Notified          []Cost `json:"told"`
	Unheard           []Cost `json:"receiverDown"`
	// NotifiedRatio and UnheardRatio are the medians of the turns' CPU, by that of the calm load.
	NotifiedRatio float64 `json:"toldRatio"`
	UnheardRatio  float64 `json:"receiverDownRatio"`
}

// Add adds a turn.
func (s *Storm) Add(calm, told, unheard Cost) {
	s.Calm, s.Notified, s.Unheard = append(s.Calm, calm), append(s.Notified, told), append(s.Unheard, unheard)
}

// Conclude compares the turns.
func (s *Storm) Conclude() {
	s.NotifiedRatio, s.UnheardRatio = medianRatio(s.Notified, s.Calm), medianRatio(s.Unheard, s.Calm)
}

// medianRatio is the median over turns of the CPU of some by that of others; 0 without turns.
func medianRatio(some, others []Cost) float64 {
	var ratios []float64
	for i := range min(len(some), len(others)) {
		if others[i].CPUMicros > 0 {
			ratios = append(ratios, some[i].CPUMicros/others[i].CPUMicros)
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}

// stormRows prints what failures cost.
func (r Result) stormRows(row printer) {
	s := r.Storm
	if s == nil {
		return
	}
	row("failures", "%d a minute, %d turns", s.FailuresPerMinute, len(s.Calm))
	for _, load := range []struct {
		name  string
		costs []Cost
		ratio float64
	}{
		{"calm", s.Calm, 1},
		{"failures are told", s.Notified, s.NotifiedRatio},
		{"the receiver is down", s.Unheard, s.UnheardRatio},
	} {
		row(load.name, "%.3f of the CPU per execution", load.ratio)
		for _, c := range load.costs {
			row("", "%.1f µs, lateness p50 %.1f ms, p99 %.1f ms", c.CPUMicros, c.LatenessP50Ms, c.LatenessP99Ms)
		}
	}
}

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// samples is how often the turns are drawn anew for an interval.
const samples = 10_000

// result is what a bench prints with --json, as far as it is compared.
type result struct {
	PerSecond float64 `json:"executionsPerSecond"`
	CPU       float64 `json:"cpuPercent"`
	LastStart float64 `json:"lastStartMs"`
	Lateness  struct {
		P50 float64 `json:"p50"`
		P99 float64 `json:"p99"`
	} `json:"latenessMs"`
	Planned int `json:"planned"`
	// ServerTicks is the CPU that the server used meanwhile, loading included.
	ServerTicks int `json:"-"`
}

type pair struct{ old, new result }

// figure is a number of a bench of which less is better.
type figure struct {
	name string
	of   func(result) float64
}

// figuresOf are the figures of each bench. The CPU is that of the product's
// processes; serverCPU is that of the database beside them.
var figuresOf = map[string][]figure{
	"throughput": {
		{"CPU per execution, µs", func(r result) float64 { return r.CPU / 100 * 1e6 / r.PerSecond }},
		{"time per execution, µs", func(r result) float64 { return 1e6 / r.PerSecond }},
	},
	"lateness": {
		{"lateness p50, ms", func(r result) float64 { return r.Lateness.P50 }},
		{"lateness p99, ms", func(r result) float64 { return r.Lateness.P99 }},
		{"CPU, % of a core", func(r result) float64 { return r.CPU }},
	},
	"stampede": {
		{"last start, ms", func(r result) float64 { return r.LastStart }},
	},
}

// serverCPU counts the load of the jobs, too: its ratio is diluted.
var serverCPU = figure{"CPU of the server per execution, µs", func(r result) float64 {
	return float64(r.ServerTicks) * 1e4 / float64(r.Planned)
}}

func (p pair) text(figures []figure) string {
	parts := make([]string, len(figures))
	for i, f := range figures {
		parts[i] = fmt.Sprintf("%s: %.4g → %.4g", f.name, f.of(p.old), f.of(p.new))
	}
	return strings.Join(parts, "; ")
}

// summary is the median of the ratios, new to old, and its interval of 95 % by the bootstrap. The
// interval is the middle 95 % of the medians of turns drawn with repetition.
func summary(f figure, pairs []pair, random *rand.Rand) string {
	ratios := make([]float64, len(pairs))
	for i, p := range pairs {
		ratios[i] = f.of(p.new) / f.of(p.old)
	}
	medians := make([]float64, samples)
	drawn := make([]float64, len(ratios))
	for i := range medians {
		for j := range drawn {
			drawn[j] = ratios[random.IntN(len(ratios))]
		}
		medians[i] = median(drawn)
	}
	slices.Sort(medians)
	low, high := medians[samples*25/1000], medians[samples*975/1000]
	return fmt.Sprintf("%s: new/old %.3f, 95 %% within %.3f and %.3f", f.name, median(ratios), low, high)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

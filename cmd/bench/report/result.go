// Package report holds the figures that benches find, as JSON and as a table.
package report

import (
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

// Result is what a bench found; absent figures do not apply to it.
type Result struct {
	Name                string              `json:"name"`
	Store               string              `json:"store"`
	Durability          []string            `json:"durability"`
	Nodes               int                 `json:"nodes"`
	Slots               int                 `json:"slots"`
	BatchSize           int                 `json:"batchSize"`
	Jobs                int                 `json:"jobs"`
	ExecutionsPerSecond float64             `json:"executionsPerSecond,omitempty"`
	CeilingPerSecond    float64             `json:"ceilingPerSecond,omitempty"`
	ShareOfCeiling      float64             `json:"shareOfCeiling,omitempty"`
	OwnTablePerSecond   float64             `json:"ownTablePerSecond,omitempty"`
	ShareOfOwnTable     float64             `json:"shareOfOwnTable,omitempty"`
	CoordinatedPerSec   float64             `json:"coordinatedPerSecond,omitempty"`
	LatenessMs          *measure.Quantiles  `json:"latenessMs,omitempty"`
	Talk                *Talk               `json:"talk,omitempty"`
	API                 *API                `json:"api,omitempty"`
	Probe               *Probe              `json:"probe,omitempty"`
	Failover            *Failover           `json:"failover,omitempty"`
	Rolling             *Rolling            `json:"rolling,omitempty"`
	Outage              *Outage             `json:"outage,omitempty"`
	Rows                *measure.Rows       `json:"rows,omitempty"`
	Tail                *Tail               `json:"tail,omitempty"`
	Alerts              *Alerts             `json:"alerts,omitempty"`
	Console             *Console            `json:"console,omitempty"`
	Storm               *Storm              `json:"storm,omitempty"`
	HTTP                *HTTP               `json:"http,omitempty"`
	Workers             *Workers            `json:"workers,omitempty"`
	Workflows           *Workflows          `json:"workflows,omitempty"`
	IdleWorkers         *IdleWorkers        `json:"idleWorkers,omitempty"`
	Planned             int                 `json:"planned"`
	Lost                int                 `json:"lost"`
	Doubled             int                 `json:"doubled"`
	LastStartMs         float64             `json:"lastStartMs,omitempty"`
	ReadyMs             float64             `json:"readyMs,omitempty"`
	History             int                 `json:"history,omitempty"`
	Inversions          *measure.Inversions `json:"inversions,omitempty"`
	CPUPercent          float64             `json:"cpuPercent"`
	RSSMb               float64             `json:"rssMb"`
	ObserverPercent     float64             `json:"observerPercent,omitempty"`
	PerNode             []NodeFigures       `json:"perNode,omitempty"`
	QueriesPerSecond    map[string]float64  `json:"queriesPerSecond,omitempty"`
}

// Count takes the outcome over.
func (r *Result) Count(t measure.Tally) { r.Planned, r.Lost, r.Doubled = t.Planned, t.Lost, t.Doubled }

// NodeFigures are those of one process of a cluster.
type NodeFigures struct {
	Node string `json:"node"`
	// Restarted: it was another process at the beginning, and its processor's
	// time is not known.
	Restarted  bool    `json:"restarted,omitempty"`
	CPUPercent float64 `json:"cpuPercent"`
	RSSMb      float64 `json:"rssMb"`
	// Starts are handler entries seen there.
	Starts  int     `json:"starts,omitempty"`
	ReadyMs float64 `json:"readyMs,omitempty"`
	// Inversions are those among its starts.
	Inversions       *measure.Inversions `json:"inversions,omitempty"`
	QueriesPerSecond map[string]float64  `json:"queriesPerSecond,omitempty"`
}

// AddInversions adds those of all, and of each node.
func (r *Result) AddInversions(starts []measure.StartEvent) {
	all, counted, seen := measure.CountInversions(starts, r.BatchSize)
	r.Inversions = all
	for i := range r.PerNode {
		n := uint8(i + 1)
		r.PerNode[i].Starts, r.PerNode[i].Inversions = seen[n], counted[n]
	}
}

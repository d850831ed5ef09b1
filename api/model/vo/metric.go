package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/metric"
)

// MetricSeries is one time series.
type MetricSeries struct {
	Name string `json:"name"`
	// Scope says what the series is about.
	Scope string `json:"scope" enums:"NODE,GROUP,CLUSTER"`
	// Kind says what a value is: the mean of a level, or the total of what was counted in the step.
	Kind    string `json:"kind" enums:"GAUGE,SUM"`
	Unit    string `json:"unit"`
	From    Time   `json:"from" format:"date-time"`
	To      Time   `json:"to" format:"date-time"`
	StepSec int    `json:"stepSec"`
	// Complete is false where there were too many values; the last are missing then.
	Complete bool         `json:"complete"`
	Series   []MetricLine `json:"series"`
}

// MetricLine is the series of one node, or of all together.
type MetricLine struct {
	// NodeID is null where the line is about several nodes or the cluster.
	NodeID *string       `json:"nodeId" extensions:"x-nullable"`
	Points []MetricPoint `json:"points"`
}

// MetricPoint is the value of one step.
type MetricPoint struct {
	Time  Time    `json:"time" format:"date-time"`
	Value float64 `json:"value"`
	// Min and Max bound the readings within the step.
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// FromMetrics shows a series.
func FromMetrics(a metric.Answer) MetricSeries {
	out := MetricSeries{
		Name: a.Name, Scope: string(a.Scope), Kind: string(a.Kind), Unit: a.Unit, From: Time(a.From),
		To: Time(a.To), StepSec: int(a.Step.Seconds()), Complete: a.Complete, Series: []MetricLine{},
	}
	for _, l := range a.Series {
		line := MetricLine{Points: []MetricPoint{}}
		if l.NodeID != "" {
			line.NodeID = &l.NodeID
		}
		for _, p := range l.Points {
			line.Points = append(line.Points, MetricPoint{Time: Time(p.Time), Value: p.Value, Min: p.Min, Max: p.Max})
		}
		out.Series = append(out.Series, line)
	}
	return out
}

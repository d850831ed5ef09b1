// Package metric answers questions about the time series that the store keeps.
package metric

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
)

const (
	// defaultSpan is the span of a question that names none.
	defaultSpan = time.Hour
	// maxSpan is more than anything that is kept.
	maxSpan = 10 * 366 * 24 * time.Hour
	// maxPoints bounds the points of one series, and maxRows the rows that an answer reads.
	maxPoints = 1500
	maxRows   = 50_000
	// wantedPoints is how many points a question without a step gets at most.
	wantedPoints = 500
	// minutesStay is how long rows of a minute surely stay.
	minutesStay = 48 * time.Hour
	// rolledUpAfter is how long after its end a period is surely rolled up.
	rolledUpAfter = time.Hour
)

// Query asks for one series.
type Query struct {
	Name string
	// From and To are the span; zero is the last hour, or until now.
	From, To time.Time
	// Step is the width of a point, whole minutes; 0 chooses one.
	Step time.Duration
	// NodeID and Group narrow; empty is all. Groups are those that may be seen, nil all.
	NodeID, Group string
	Groups        []string
}

// Answer is what was asked for.
type Answer struct {
	series.Def
	From, To time.Time
	Step     time.Duration
	Series   []Line
	// Complete is false where there were too many rows: the last are missing then.
	Complete bool
}

// Line is one series of the answer, oldest point first. Spans without a value have no point.
type Line struct {
	// NodeID is empty where the line is about several nodes or the cluster.
	NodeID string
	Points []Point
}

// Point is the value of one step: the total of a SUM, the mean of a GAUGE. Min and Max bound its readings; for a SUM
// these are minutes, or hours and days where only those are kept.
type Point struct {
	Time            time.Time
	Value, Min, Max float64
}

// MetricService reads time series. Safe for concurrent use.
type MetricService struct {
	rows      repository.MetricRows
	clock     clock.StoreClock
	catalogue *series.Catalogue
}

// NewMetricService wires the parts.
func NewMetricService(rows repository.MetricRows, c clock.StoreClock) *MetricService {
	return &MetricService{rows: rows, clock: c, catalogue: series.NewCatalogue()}
}

// Metrics returns one series. A caller bound to groups sees series of these groups alone.
func (s *MetricService) Metrics(ctx context.Context, q Query) (Answer, error) {
	def, err := s.find(q)
	if err != nil {
		return Answer{}, err
	}
	now := s.clock.Now()
	if err := q.complete(now); err != nil {
		return Answer{}, err
	}
	a := Answer{Def: def, From: q.From, To: q.To, Step: q.Step, Complete: true}
	lines := map[string]map[int64]*series.Row{}
	for _, part := range parts(q, now) {
		rows, err := s.rows.ReadMetrics(ctx, repository.MetricQuery{
			Name: q.Name, Period: part.period, From: part.from, To: part.to, NodeID: q.NodeID, Group: q.Group, Groups: q.Groups,
			ByNode: def.Scope == series.Node || q.NodeID != "", Limit: maxRows,
		})
		if err != nil {
			return Answer{}, err
		}
		a.Complete = a.Complete && len(rows) < maxRows
		for _, row := range rows {
			if lines[row.NodeID] == nil {
				lines[row.NodeID] = map[int64]*series.Row{}
			}
			step := int64(row.Time.Sub(q.From) / q.Step)
			into := lines[row.NodeID][step]
			if into == nil {
				into = &series.Row{}
				lines[row.NodeID][step] = into
			}
			into.Merge(row)
		}
	}
	for node, steps := range lines {
		line := Line{NodeID: node}
		for step, row := range steps {
			line.Points = append(line.Points, Point{
				Time: q.From.Add(time.Duration(step) * q.Step), Value: row.Value(def.Kind), Min: row.Min, Max: row.Max,
			})
		}
		slices.SortFunc(line.Points, func(a, b Point) int { return a.Time.Compare(b.Time) })
		a.Series = append(a.Series, line)
	}
	slices.SortFunc(a.Series, func(a, b Line) int { return cmp.Compare(a.NodeID, b.NodeID) })
	return a, nil
}

// find returns the series of a question, or says why the caller may not ask for it.
func (s *MetricService) find(q Query) (series.Def, error) {
	def, ok := s.catalogue.Find(q.Name)
	switch {
	case q.Name == "":
		return def, apperror.InvalidField("name", "required", "name the series, such as executions.ended")
	case !ok:
		hint := "docs/metrics.md lists the names"
		if near := spelling.Nearest(q.Name, s.catalogue.Names()); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return def, apperror.InvalidField("name", "unknown_metric", "is no series that is kept; "+hint)
	case q.Group != "" && def.Scope != series.Group:
		return def, apperror.InvalidField("group", "not_by_group", q.Name+" is not kept by group; leave the group out")
	case q.NodeID != "" && def.Scope == series.Cluster:
		return def, apperror.InvalidField("nodeId", "not_by_node", q.Name+" is about the whole cluster; leave the node out")
	case q.Groups != nil && def.Scope != series.Group:
		return def, apperror.New(apperror.KindForbidden, "forbidden",
			q.Name+" is about nodes and all groups; your role is bound to some groups, whose series you may read")
	}
	return def, nil
}

// complete fills in what the question leaves open, and aligns its begin to the step.
func (q *Query) complete(now time.Time) error {
	if q.To.IsZero() {
		q.To = now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-defaultSpan)
	}
	if !q.From.Before(q.To) {
		return apperror.InvalidField("from", "out_of_order", "must be before to, or before now where to is left out")
	}
	if q.To.Sub(q.From) > maxSpan {
		return apperror.InvalidField("from", "out_of_range", "must be at most ten years before the end")
	}
	if q.Step%series.Minute != 0 {
		return apperror.InvalidField("step", "out_of_range", "must be a multiple of 60 seconds")
	}
	if q.Step == 0 {
		q.Step = stepFor(q.To.Sub(q.From), now.Sub(q.From))
	}
	if n := int64(q.To.Sub(q.From) / q.Step); n > maxPoints {
		return apperror.InvalidField("step", "too_many_points",
			fmt.Sprintf("makes %d points, and at most %d are allowed; ask for a greater step or a shorter span", n, maxPoints))
	}
	if q.Step%series.Hour != 0 && now.Sub(q.From) > minutesStay {
		return apperror.InvalidField("step", "not_kept",
			"values of minutes are kept for two days; before that, ask for a step of whole hours, such as 3600")
	}
	q.From = q.From.Truncate(q.Step)
	return nil
}

// stepFor chooses the least usual step that makes few enough points of what is kept.
func stepFor(span, age time.Duration) time.Duration {
	for _, step := range []time.Duration{
		series.Minute, 2 * series.Minute, 5 * series.Minute, 10 * series.Minute, 30 * series.Minute,
		series.Hour, 2 * series.Hour, 6 * series.Hour, series.Day,
	} {
		if span/step <= wantedPoints && (step >= series.Hour || age <= minutesStay) {
			return step
		}
	}
	return (span/wantedPoints + series.Day).Truncate(series.Day)
}

// part is a span that is read from rows of one period.
type part struct {
	period   time.Duration
	from, to time.Time
}

// parts divides a span: old times come from rows of the greatest period that fits the step, the present, which is not
// rolled up yet, from smaller ones.
func parts(q Query, now time.Time) (out []part) {
	from := q.From
	for _, period := range []time.Duration{series.Day, series.Hour} {
		if q.Step%period != 0 {
			continue
		}
		until := now.Add(-rolledUpAfter).Truncate(period)
		if until.After(q.To) {
			until = q.To
		}
		if until.After(from) {
			out, from = append(out, part{period, from, until}), until
		}
	}
	if from.Before(q.To) {
		out = append(out, part{series.Minute, from, q.To})
	}
	return out
}

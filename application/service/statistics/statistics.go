// Package statistics tells what ends of executions add up to: figures of a job, a group,
// a node or the cluster over a span of time, and the jobs that stand out.
package statistics

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

const (
	// usualSpan is what is told of where nobody says from when.
	usualSpan = 24 * time.Hour
	// longestSpan bounds what is told of: as long as days are kept, and a bit.
	longestSpan = 401 * 24 * time.Hour
	// ranked bounds the jobs that are compared, where only some of them may be seen.
	ranked = 20_000
)

// lastHour is the last begin of an hour whose year has four digits, as RFC 3339 asks for. To
// is rounded up, so that none after it can be answered.
func lastHour() time.Time { return time.Date(9999, time.December, 31, 23, 0, 0, 0, time.UTC) }

// Query asks for figures. At most one of Job, Group, Node and Workers, a worker group, is given;
// none is all that the caller sees.
type Query struct {
	Job, Group, Node, Workers string
	// From and To are rounded to hours; zero are a day ago and now.
	From, To time.Time
	// By is the period of each line; empty: there are no lines.
	By statistics.Period
	// Zone is that of days; nil is the server's.
	Zone *time.Location
	// Top is how many jobs stand in the list of those with the most of TopBy.
	Top   int
	TopBy repository.TopColumn
	// Groups are those that may be seen; nil is all.
	Groups []string
}

// Line is the figures of one hour or day.
type Line struct {
	Start time.Time
	Row   *statistics.Row
	// Usual is what is usual for a job that is asked for by hours; nil where nobody knows.
	Usual *Usual
}

// TopJob is a job that stands out.
type TopJob struct {
	repository.JobTotal
	// ID is the job's; Name and Group are empty where it was purged.
	ID, Name, Group string
}

// Statistics are figures of a span of time.
type Statistics struct {
	// AsOf is up to when ends are counted.
	AsOf time.Time
	// From and To are what was counted: days that are stored whole count whole.
	From, To time.Time
	Zone     *time.Location
	// Rounded: days of the zone do not begin with an hour of UTC, and are rounded.
	Rounded bool
	Total   *statistics.Row
	// Usual is what is usual now for the job that is asked for; nil where nobody knows.
	Usual *Usual
	Lines []Line
	Top   []TopJob
}

// StatisticsService tells what ends add up to. Safe for concurrent use.
type StatisticsService struct {
	Sums repository.StatisticsReader
	// Baselines say what is usual for jobs.
	Baselines repository.BaselineReader
	Jobs      repository.JobReader
	// Clock is the store's.
	Clock clock.StoreClock
	// Zone is that in which days are stored.
	Zone *time.Location
}

// Statistics adds up the rows of a span. It reads at most some 500 rows for each name.
func (s *StatisticsService) Statistics(ctx context.Context, q Query) (out Statistics, err error) {
	now := s.Clock.Now()
	if q, err = s.complete(q, now); err != nil {
		return out, err
	}
	if out.AsOf, err = s.asOf(ctx, now); err != nil {
		return out, err
	}
	ask, err := s.askFor(ctx, q)
	if err != nil {
		return out, err
	}
	ask.Hours, ask.Days = statistics.Covering(q.From, q.To, s.Zone)
	rows, err := s.Sums.SumRows(ctx, ask)
	if err != nil {
		return out, err
	}
	out.From, out.To, out.Zone, out.Rounded = ask.Hours.From, ask.Hours.To, q.Zone, statistics.Rounded(q.From, q.Zone)
	out.Total = &statistics.Row{}
	lines := map[int64]*statistics.Row{}
	for _, row := range rows {
		start := time.UnixMilli(row.Start).UTC()
		if row.Period == statistics.Day && start.Before(out.From) {
			out.From = start
		}
		out.Total.Merge(row.Row)
		if q.By == "" {
			continue
		}
		at := statistics.LineOf(row.Period, start, q.By, q.Zone).UnixMilli()
		if lines[at] == nil {
			lines[at] = &statistics.Row{}
		}
		lines[at].Merge(row.Row)
	}
	for at, row := range lines {
		out.Lines = append(out.Lines, Line{Start: time.UnixMilli(at).UTC(), Row: row})
	}
	slices.SortFunc(out.Lines, func(a, b Line) int { return a.Start.Compare(b.Start) })
	if q.Job != "" {
		if err := s.addUsual(ctx, &out, ask.Job, q.By, now); err != nil {
			return out, err
		}
	}
	if q.Top > 0 {
		out.Top, err = s.top(ctx, q, ask)
	}
	return out, err
}

// complete fills in what was not said, and refuses what cannot be told.
func (s *StatisticsService) complete(q Query, now time.Time) (Query, error) {
	if q.To.IsZero() {
		q.To = now.Add(time.Millisecond) // what has ended just now counts, too
	}
	if last := lastHour(); q.To.After(last) {
		q.To = last
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-usualSpan)
	}
	if q.Zone == nil {
		q.Zone = s.Zone
	}
	if q.TopBy == "" {
		q.TopBy = repository.TopFailures
	}
	var faults []apperror.Field
	wrong := func(field, code, message string) {
		faults = append(faults, apperror.Field{Field: field, Code: code, Message: message})
	}
	switch kept := statistics.Mergeable(now, s.Zone); {
	case !q.From.Before(q.To):
		wrong("from", "out_of_order", "must be before to")
	case q.To.Sub(q.From) > longestSpan:
		wrong("from", "out_of_range", "must be at most 401 days before to")
	case q.By == statistics.Hour && q.From.Before(kept):
		wrong("from", "out_of_range",
			fmt.Sprintf("must not be before %s with by=HOUR: older hours are kept as days; ask with by=DAY", clock.Text(kept)))
	}
	if q.Top > 0 && (q.Job != "" || q.Node != "" || q.Workers != "") {
		wrong("top", "conflict", "compares jobs of a group or of all groups; leave out job, node and workers")
	}
	if worker.IsID(q.Node) {
		wrong("node", "invalid", "is of a worker, and workers count by their worker group: ask with workers")
	}
	if q.Workers != "" && !worker.ValidGroup(q.Workers) {
		wrong("workers", "invalid", fmt.Sprintf("is no worker group: its name has 1 to %d of a-z 0-9 . - _", worker.MaxGroup))
	}
	return q, apperror.Invalid(faults)
}

// asOf is when the oldest end was stored that is not counted yet; now where all are, and 1970 where nobody has looked
// yet.
func (s *StatisticsService) asOf(ctx context.Context, now time.Time) (time.Time, error) {
	state, err := s.Sums.FoldState(ctx)
	if err != nil {
		return now, err
	}
	if !state.Whole {
		now = time.UnixMilli(max(state.LackingSince.UnixMilli(), 0)).UTC()
	}
	oldest, _, some, err := s.Sums.DigestsSince(ctx)
	if err != nil || !some || oldest.After(now) {
		return now, err
	}
	return oldest, nil
}

// askFor says whose rows are asked for. An object that the caller may not see does not exist.
func (s *StatisticsService) askFor(ctx context.Context, q Query) (ask repository.SumsQuery, err error) {
	switch {
	case q.Job != "":
		job, ok := identity.Bytes(q.Job)
		if !ok {
			return ask, apperror.NotFound("job", q.Job)
		}
		groups, err := s.Sums.GroupsOf(ctx, []repository.BinaryID{job})
		if err != nil {
			return ask, err
		}
		if group, ok := groups[job]; !ok || !visible(q.Groups, group) {
			return ask, apperror.NotFound("job", q.Job)
		}
		ask.Job = job
	case q.Node != "":
		ask.Kind, ask.Names = statistics.KindNode, []string{q.Node}
	case q.Workers != "":
		ask.Kind, ask.Names = statistics.KindNode, []string{statistics.WorkersName(q.Workers)}
	case q.Group != "":
		ask.Kind = statistics.KindGroup
		if visible(q.Groups, q.Group) {
			ask.Names = []string{q.Group}
		}
	case q.Groups != nil:
		ask.Kind, ask.Names = statistics.KindGroup, q.Groups
	default:
		ask.Kind, ask.Names = statistics.KindCluster, []string{""}
	}
	return ask, nil
}

func visible(groups []string, group string) bool {
	return groups == nil || slices.Contains(groups, group)
}

// top are the jobs that have the most of a column, of those that are asked for.
func (s *StatisticsService) top(ctx context.Context, q Query, ask repository.SumsQuery) (top []TopJob, err error) {
	all := q.Group == "" && q.Groups == nil
	limit := ranked
	if all {
		limit = q.Top
	}
	best, err := s.Sums.TopJobs(ctx, q.TopBy, ask.Hours, ask.Days, limit)
	if err != nil {
		return nil, err
	}
	if !all {
		groups, err := s.Sums.GroupsOf(ctx, best)
		if err != nil {
			return nil, err
		}
		best = slices.DeleteFunc(best, func(job repository.BinaryID) bool {
			group, ok := groups[job]
			return !ok || !slices.Contains(ask.Names, group)
		})
		best = best[:min(len(best), q.Top)]
	}
	totals, err := s.Sums.JobTotals(ctx, best, q.TopBy, ask.Hours, ask.Days)
	if err != nil {
		return nil, err
	}
	ids := convert.All(totals, func(t repository.JobTotal) string { return identity.Text(t.Job) })
	jobs, err := s.Jobs.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	named := make(map[string]*entity.Job, len(jobs))
	for _, j := range jobs {
		named[j.ID] = j
	}
	for i, t := range totals {
		one := TopJob{JobTotal: t, ID: ids[i]}
		if j := named[ids[i]]; j != nil {
			one.Name, one.Group = j.Name, j.Group
		}
		top = append(top, one)
	}
	return top, nil
}

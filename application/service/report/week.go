package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

const (
	// shown bounds each list of the report.
	shown = 10
	// maxGroups bounds the groups that are compared, compared the jobs that are.
	maxGroups = 200
	compared  = 200
	// slower is how much longer than usual the runs of a job take until it is shown.
	slower = 1.2
	// maxLetters bounds the causes of dead letters that are counted.
	maxLetters = 1000
)

// week reads the figures since the report before the one that is due at a moment.
func (r *Reporter) week(ctx context.Context, to time.Time) (w alert.WeeklyReport, err error) {
	from, _ := r.Plan.due(to.Add(-1))
	before, _ := r.Plan.due(from.Add(-1))
	w.From, w.To, w.URL = from, to, r.URL
	cluster := []string{""}
	all, err := r.sums(ctx, statistics.KindCluster, cluster, from, to)
	if err != nil {
		return w, err
	}
	former, err := r.sums(ctx, statistics.KindCluster, cluster, before, from)
	if err != nil {
		return w, err
	}
	w.Total, w.Before = all[""], former[""]
	if w.Groups, err = r.groups(ctx, before, from, to); err != nil {
		return w, err
	}
	hours, days := statistics.Covering(from, to, r.Zone)
	if w.Failing, err = r.failing(ctx, hours, days); err != nil {
		return w, err
	}
	if w.Slow, err = r.slow(ctx, hours, days, to); err != nil {
		return w, err
	}
	if w.Alerts, err = r.Alerts.AlertsBetween(ctx, from, to); err != nil {
		return w, fmt.Errorf("count alerts: %w", err)
	}
	causes, err := r.Letters.DeadLetterCauses(ctx, repository.DeadLetterFilter{Waiting: true}, maxLetters)
	if err != nil {
		return w, fmt.Errorf("count dead letters: %w", err)
	}
	for _, c := range causes {
		w.DeadLetters += c.Count
	}
	w.MoreDeadLetters = len(causes) == maxLetters
	return w, nil
}

// sums adds up the rows of scopes, by their names.
func (r *Reporter) sums(ctx context.Context, kind statistics.Kind, names []string, from, to time.Time,
) (map[string]alert.ReportSums, error) {
	ask := repository.SumsQuery{Kind: kind, Names: names}
	ask.Hours, ask.Days = statistics.Covering(from, to, r.Zone)
	rows, err := r.Sums.SumRows(ctx, ask)
	if err != nil {
		return nil, fmt.Errorf("read statistics: %w", err)
	}
	out := map[string]alert.ReportSums{}
	for _, row := range rows {
		s := out[row.Name]
		s.Runs += row.Row.Runs
		s.Success += row.Row.Success
		s.Failures += row.Row.Failed + row.Row.Timeout + row.Row.Dead
		s.Cancelled += row.Row.Cancelled
		s.Skipped += row.Row.Skipped
		out[row.Name] = s
	}
	return out, nil
}

func (r *Reporter) groups(ctx context.Context, before, from, to time.Time) (out []alert.ReportGroup, err error) {
	groups, _, err := r.Groups.ListGroups(ctx, nil, repository.Page{Limit: maxGroups})
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name
	}
	if len(names) == 0 {
		return nil, nil
	}
	now, err := r.sums(ctx, statistics.KindGroup, names, from, to)
	if err != nil {
		return nil, err
	}
	former, err := r.sums(ctx, statistics.KindGroup, names, before, from)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if now[name].Runs > 0 || former[name].Runs > 0 {
			out = append(out, alert.ReportGroup{Name: name, Total: now[name], Before: former[name]})
		}
	}
	slices.SortStableFunc(out, func(a, b alert.ReportGroup) int { return cmp.Compare(b.Total.Runs, a.Total.Runs) })
	return out[:min(len(out), shown)], nil
}

// named are the names and groups of jobs; those of one that was purged are its id and nothing.
func (r *Reporter) named(ctx context.Context, totals []repository.JobTotal) (map[repository.BinaryID][2]string, error) {
	ids, out := make([]string, len(totals)), map[repository.BinaryID][2]string{}
	for i, t := range totals {
		ids[i] = identity.Text(t.Job)
		out[t.Job] = [2]string{ids[i], ""}
	}
	jobs, err := r.Jobs.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the names of jobs: %w", err)
	}
	for _, j := range jobs {
		if id, ok := identity.Bytes(j.ID); ok {
			out[id] = [2]string{j.Name, j.Group}
		}
	}
	return out, nil
}

// top are the totals of the jobs that have the most of a column.
func (r *Reporter) top(ctx context.Context, by repository.TopColumn, hours, days statistics.Interval, most int) (
	[]repository.JobTotal, error,
) {
	jobs, err := r.Sums.TopJobs(ctx, by, hours, days, most)
	if err != nil {
		return nil, err
	}
	return r.Sums.JobTotals(ctx, jobs, by, hours, days)
}

func (r *Reporter) failing(ctx context.Context, hours, days statistics.Interval) (out []alert.ReportJob, err error) {
	totals, err := r.top(ctx, repository.TopFailures, hours, days, shown)
	if err != nil {
		return nil, fmt.Errorf("read the jobs that fail most: %w", err)
	}
	names, err := r.named(ctx, totals)
	for _, t := range totals {
		out = append(out, alert.ReportJob{
			Name: names[t.Job][0], Group: names[t.Job][1], Runs: t.Runs, Failures: t.Failures,
		})
	}
	return out, err
}

// slow compares the jobs that took most time with what is usual for them.
func (r *Reporter) slow(ctx context.Context, hours, days statistics.Interval, at time.Time,
) (out []alert.ReportSlow, err error) {
	totals, err := r.top(ctx, repository.TopDuration, hours, days, compared)
	if err != nil {
		return nil, fmt.Errorf("read the jobs that take most time: %w", err)
	}
	ids := convert.All(totals, func(t repository.JobTotal) repository.BinaryID { return t.Job })
	stored, err := r.Usual.BaselinesOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read what is usual for jobs: %w", err)
	}
	names, err := r.named(ctx, totals)
	if err != nil {
		return nil, err
	}
	for _, t := range totals {
		state, err := baseline.Decode(stored[t.Job].Data)
		if err != nil || t.Runs == 0 {
			continue // nothing is known of the job
		}
		usual, known := state.Usual(at)
		mean := time.Duration(t.DurationMs/t.Runs) * time.Millisecond
		if !known || usual.UsualMs < 1 || float64(mean.Milliseconds()) < slower*float64(usual.UsualMs) {
			continue
		}
		out = append(out, alert.ReportSlow{
			Name: names[t.Job][0], Group: names[t.Job][1], Runs: t.Runs, Mean: mean,
			Usual: time.Duration(usual.UsualMs) * time.Millisecond,
		})
	}
	slices.SortStableFunc(out, func(a, b alert.ReportSlow) int {
		return cmp.Compare(float64(b.Mean)/float64(b.Usual), float64(a.Mean)/float64(a.Usual))
	})
	return out[:min(len(out), shown)], nil
}

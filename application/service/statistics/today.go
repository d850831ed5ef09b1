package statistics

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// usualDays is how many days before today are compared with it, where their hours are kept.
const usualDays = 7

// DayFigures are what ends of a day come to, up to a time of the day. The usual figures are
// medians, and may lie between two days.
type DayFigures struct {
	Runs, Failures float64
	// P95 is how long runs took at most, but for one of twenty; Known: something ran.
	P95   time.Duration
	Known bool
}

// Today compares the present day with the same hours of the days before.
type Today struct {
	// AsOf is up to when ends are counted.
	AsOf time.Time
	// From is the begin of the day in Zone, To the present.
	From, To time.Time
	Zone     *time.Location
	Now      DayFigures
	// Usual is the median of Days days on which anything ended; without any it is empty.
	Usual DayFigures
	Days  int
}

// Today adds the hours of today up, and those of the days before of which hours are kept.
// Of the hour that is not over, former days count with the share that has passed.
func (s *StatisticsService) Today(ctx context.Context, q Query) (out Today, err error) {
	now := s.Clock.Now()
	out.To, out.Zone = now, q.Zone
	if out.Zone == nil {
		out.Zone = s.Zone
	}
	if out.AsOf, err = s.asOf(ctx, now); err != nil {
		return out, err
	}
	ask, err := s.askFor(ctx, q)
	if err != nil {
		return out, err
	}
	out.From = statistics.DayOf(now, out.Zone)
	begins := []time.Time{out.From}
	for len(begins) <= usualDays {
		before := statistics.DayOf(begins[len(begins)-1].Add(-time.Hour), out.Zone)
		if before.Before(statistics.Mergeable(now, s.Zone)) {
			break // its hours belong to a stored day
		}
		begins = append(begins, before)
	}
	ask.Hours, _ = statistics.Covering(begins[len(begins)-1], now.Add(time.Millisecond), s.Zone)
	rows, err := s.Sums.SumRows(ctx, ask)
	if err != nil {
		return out, err
	}
	days := sumDays(begins, rows, now)
	out.Now = days[0].figures()
	var former []DayFigures
	for _, d := range days[1:] {
		if d.some {
			former = append(former, d.figures())
		}
	}
	out.Days, out.Usual = len(former), medianOf(former)
	return out, nil
}

// dayPart is the hours of a day, up to a time of the day.
type dayPart struct {
	// some: there is a row of the day, at whatever hour.
	some        bool
	whole, last statistics.Row
	share       float64 // of the last hour
}

// sumDays adds rows up by the day that they are of; begins are the newest first.
func sumDays(begins []time.Time, rows []repository.SumRow, now time.Time) []*dayPart {
	days := make([]*dayPart, len(begins))
	passed := now.Sub(statistics.HourOf(now))
	for i := range days {
		days[i] = &dayPart{share: float64(passed) / float64(time.Hour)}
	}
	days[0].share = 1 // what has ended of today is what counts
	for _, row := range rows {
		start := time.UnixMilli(row.Start)
		i := slices.IndexFunc(begins, func(b time.Time) bool { return !start.Before(b) })
		if i < 0 || row.Period != statistics.Hour {
			continue
		}
		days[i].some = true
		switch at, until := start.Sub(begins[i]), statistics.HourOf(now).Sub(begins[0]); {
		case at < until:
			days[i].whole.Merge(row.Row)
		case at == until:
			days[i].last.Merge(row.Row)
		}
	}
	return days
}

func (d *dayPart) figures() (f DayFigures) {
	f.Runs = float64(d.whole.Runs) + d.share*float64(d.last.Runs)
	f.Failures = float64(failures(&d.whole)) + d.share*float64(failures(&d.last))
	d.whole.Merge(&d.last)
	if f.Known = d.whole.Duration.Count() > 0; f.Known {
		f.P95 = d.whole.Duration.Quantile(0.95)
	}
	return f
}

func failures(r *statistics.Row) int64 { return r.Failed + r.Timeout + r.Dead }

// medianOf is the median of each figure; the p95 is that of the days on which anything ran.
func medianOf(days []DayFigures) (f DayFigures) {
	var runs, failed, p95 []float64
	for _, d := range days {
		runs, failed = append(runs, d.Runs), append(failed, d.Failures)
		if d.Known {
			p95 = append(p95, float64(d.P95))
		}
	}
	f.Runs, f.Failures, f.P95, f.Known = median(runs), median(failed), time.Duration(median(p95)), len(p95) > 0
	return f
}

// median is 0 of nothing.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}

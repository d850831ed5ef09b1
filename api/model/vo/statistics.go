package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	sums "github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// Quantiles tell how a span was distributed, in milliseconds.
type Quantiles struct {
	// Count is how many there were; without any the others are null.
	Count int64    `json:"count"`
	Mean  *float64 `json:"meanMs" extensions:"x-nullable"`
	P50   *int64   `json:"p50Ms" extensions:"x-nullable"`
	P95   *int64   `json:"p95Ms" extensions:"x-nullable"`
	P99   *int64   `json:"p99Ms" extensions:"x-nullable"`
	// Error is the greatest share by which p50, p95 and p99 are off.
	Error float64 `json:"error"`
}

// Figures are what ends of executions add up to.
type Figures struct {
	// Runs are final executions but those that were skipped; a fire with shards is one.
	Runs      int64 `json:"runs"`
	Success   int64 `json:"success"`
	Failed    int64 `json:"failed"`
	Timeout   int64 `json:"timeout"`
	Cancelled int64 `json:"cancelled"`
	Dead      int64 `json:"dead"`
	// Skipped are fires that did not run.
	Skipped int64 `json:"skipped"`
	// Retries are those by the engine within the runs.
	Retries int64 `json:"retries"`
	// SuccessRate is the share of the runs that succeeded, of those that were not
	// cancelled; null without any.
	SuccessRate *float64  `json:"successRate" extensions:"x-nullable"`
	Duration    Quantiles `json:"duration"`
	// Lateness is of fires of the schedule: start less due time.
	Lateness Quantiles `json:"lateness"`
	// LateRuns started more than a second late.
	LateRuns int64 `json:"lateRuns"`
}

// Usual is how long runs of a job usually take, as docs/baselines.md says.
type Usual struct {
	// UsualMs is the usual duration. Nearly all runs take from LowMs to HighMs; more than
	// LimitMs is unusual.
	UsualMs int64 `json:"usualMs"`
	LowMs   int64 `json:"lowMs"`
	HighMs  int64 `json:"highMs"`
	LimitMs int64 `json:"limitMs"`
	// Cell is the weekday or hour for which this is usual, such as SUNDAY or 02; empty is always.
	Cell string `json:"cell"`
	// Runs is how many successful runs taught it.
	Runs int `json:"runs"`
}

// StatisticsLine is the figures of one hour or day.
type StatisticsLine struct {
	Start Time `json:"start" format:"date-time"`
	Figures
	// Usual is what is usual for runs of the job that start in this hour. It is null for
	// days, where no job is asked for, and while nobody knows.
	Usual *Usual `json:"usual" extensions:"x-nullable"`
}

// TopJob is a job that stands out.
type TopJob struct {
	JobID string `json:"jobId"`
	// Name and Group are null where the job is gone.
	Name       *string `json:"name" extensions:"x-nullable"`
	Group      *string `json:"group" extensions:"x-nullable"`
	Runs       int64   `json:"runs"`
	Success    int64   `json:"success"`
	Failures   int64   `json:"failures"`
	Skipped    int64   `json:"skipped"`
	Retries    int64   `json:"retries"`
	DurationMs int64   `json:"durationMs"`
	LateRuns   int64   `json:"lateRuns"`
}

// Statistics are figures of a span of time.
type Statistics struct {
	// AsOf is up to when ends are counted.
	AsOf Time `json:"asOf" format:"date-time"`
	// From and To are what was counted, in whole hours; older days count whole.
	From     Time   `json:"from" format:"date-time"`
	To       Time   `json:"to" format:"date-time"`
	TimeZone string `json:"timeZone"`
	// Rounded: days of the zone do not begin with an hour of UTC, and are rounded to it.
	Rounded bool    `json:"rounded"`
	Total   Figures `json:"total"`
	// Usual is what is usual now for the job that is asked for; null for all others, and while nobody knows.
	Usual *Usual           `json:"usual" extensions:"x-nullable"`
	Items []StatisticsLine `json:"items"`
	Top   []TopJob         `json:"top"`
}

// FromStatistics makes the view of statistics.
func FromStatistics(s statistics.Statistics) Statistics {
	v := Statistics{
		AsOf: Time(s.AsOf), From: Time(s.From), To: Time(s.To), TimeZone: s.Zone.String(), Rounded: s.Rounded,
		Total: figuresOf(s.Total), Usual: usualOf(s.Usual), Items: make([]StatisticsLine, len(s.Lines)),
		Top: make([]TopJob, len(s.Top)),
	}
	for i, line := range s.Lines {
		v.Items[i] = StatisticsLine{Time(line.Start), figuresOf(line.Row), usualOf(line.Usual)}
	}
	for i, t := range s.Top {
		v.Top[i] = TopJob{
			JobID: t.ID, Name: optional(t.Name), Group: optional(t.Group), Runs: t.Runs, Success: t.Success,
			Failures: t.Failures, Skipped: t.Skipped, Retries: t.Retries, DurationMs: t.DurationMs, LateRuns: t.LateRuns,
		}
	}
	return v
}

func usualOf(u *statistics.Usual) *Usual {
	if u == nil {
		return nil
	}
	return &Usual{
		UsualMs: u.Duration.Milliseconds(), LowMs: u.Low.Milliseconds(), HighMs: u.High.Milliseconds(),
		LimitMs: u.Limit.Milliseconds(), Cell: u.Cell, Runs: u.Runs,
	}
}

func figuresOf(r *sums.Row) Figures {
	f := Figures{
		Runs: r.Runs, Success: r.Success, Failed: r.Failed, Timeout: r.Timeout, Cancelled: r.Cancelled,
		Dead: r.Dead, Skipped: r.Skipped, Retries: r.Retries, LateRuns: r.LateRuns,
		Duration: quantilesOf(&r.Duration, r.DurationMs), Lateness: quantilesOf(&r.Lateness, r.LatenessMs),
	}
	if judged := r.Runs - r.Cancelled; judged > 0 {
		rate := float64(r.Success) / float64(judged)
		f.SuccessRate = &rate
	}
	return f
}

func quantilesOf(h *sums.Histogram, sum int64) Quantiles {
	q := Quantiles{Count: h.Count(), Error: h.Error()}
	if q.Count == 0 {
		return q
	}
	at := func(share float64) *int64 {
		ms := min(h.Quantile(share).Milliseconds(), sum) // no value is more than all together
		return &ms
	}
	mean := float64(sum) / float64(q.Count)
	q.Mean, q.P50, q.P95, q.P99 = &mean, at(0.5), at(0.95), at(0.99)
	return q
}

// DayFigures are what ends of a part of a day come to; usual ones are medians.
type DayFigures struct {
	Runs     float64 `json:"runs"`
	Failures float64 `json:"failures"`
	// P95 is of durations; null where nothing ran.
	P95 *int64 `json:"p95Ms" extensions:"x-nullable"`
}

// Today compares the present day with the same hours of the days before.
type Today struct {
	// AsOf is up to when ends are counted.
	AsOf     Time       `json:"asOf" format:"date-time"`
	From     Time       `json:"from" format:"date-time"`
	To       Time       `json:"to" format:"date-time"`
	TimeZone string     `json:"timeZone"`
	Today    DayFigures `json:"today"`
	// Usual is the median of so many Days before; null without any.
	Usual *DayFigures `json:"usual" extensions:"x-nullable"`
	Days  int         `json:"days"`
}

// FromToday makes the view of a comparison.
func FromToday(t statistics.Today) Today {
	v := Today{
		AsOf: Time(t.AsOf), From: Time(t.From), To: Time(t.To), TimeZone: t.Zone.String(), Days: t.Days,
		Today: dayFiguresOf(t.Now),
	}
	if t.Days > 0 {
		usual := dayFiguresOf(t.Usual)
		v.Usual = &usual
	}
	return v
}

func dayFiguresOf(f statistics.DayFigures) DayFigures {
	v := DayFigures{Runs: f.Runs, Failures: f.Failures}
	if f.Known {
		ms := f.P95.Milliseconds()
		v.P95 = &ms
	}
	return v
}

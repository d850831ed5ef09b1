package vo

import "github.com/platform-scheduler/platform-scheduler/application/service/statistics"

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

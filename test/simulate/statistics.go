package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// statistics waits until all ends are counted, and reads what they come to.
func (w *world) statistics(ctx context.Context, l *life) error {
	read := func(job string) (s history.Statistic, asOf time.Time, err error) {
		got, err := l.Statistics.Statistics(ctx, statistics.Query{Job: job, From: w.store.origin.Add(-2 * time.Hour)})
		if err != nil {
			return s, asOf, fmt.Errorf("read the statistics of %q: %w", job, err)
		}
		t := got.Total
		return history.Statistic{
			JobID: job, Runs: int(t.Runs), Success: int(t.Success), Failed: int(t.Failed), Timeout: int(t.Timeout),
			Cancelled: int(t.Cancelled), Dead: int(t.Dead), Skipped: int(t.Skipped),
		}, got.AsOf, nil
	}
	quiet := w.store.now()
	for until := time.Now().Add(counted); ; time.Sleep(time.Second) {
		_, asOf, err := read("")
		if err != nil {
			return err
		}
		if asOf.After(quiet) || time.Now().After(until) {
			break // what is not counted at the bound is missing, and found
		}
	}
	for _, j := range w.h.Jobs {
		s, _, err := read(j.ID)
		if err != nil {
			return err
		}
		w.h.Statistics = append(w.h.Statistics, s)
	}
	total, _, err := read("")
	w.h.Total = &total
	return err
}

package alerts

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// run is what is read of an execution.
type run struct {
	ID      string    `json:"id"`
	JobID   string    `json:"jobId"`
	EndTime time.Time `json:"endTime"`
}

// counted is what is read of an alert.
type counted struct {
	JobID string `json:"jobId"`
	Count int    `json:"count"`
}

// conclude waits until everything has ended, and compares failures, alerts and messages.
func (b Told) conclude(ctx context.Context, s rig.System, c *client.Client, in *receiver, p plan,
	r *report.Result,
) error {
	b.Note("letting the rest be told")
	planned := p.steady + p.burst
	err := await(ctx, b.Bench, 20*time.Millisecond, func() (bool, error) { return s.Ended() >= int64(planned), nil })
	if err != nil && !errors.Is(err, errLate) { // what is missing is counted below
		return err
	}
	runs, err := client.List[run](ctx, c, "/executions", url.Values{"status": {"FAILED"}}, 0)
	if err != nil {
		return fmt.Errorf("read the failures: %w", err)
	}
	a := &report.Alerts{Failures: p.steady, Burst: p.burst, BurstSpan: p.end.Sub(p.next).Seconds()}
	failures, last := map[string]int{}, time.Time{}
	for _, one := range runs {
		failures[one.JobID]++
		if one.EndTime.After(last) {
			last = one.EndTime
		}
	}
	var lost, more int
	err = await(ctx, b.Bench, 500*time.Millisecond, func() (bool, error) {
		alerts, err := client.List[counted](ctx, c, "/alerts", url.Values{"ruleId": {"default-failed"}}, 0)
		if err != nil {
			return false, fmt.Errorf("read the alerts: %w", err)
		}
		a.Alerts, a.Caught = len(alerts), float64(s.Now().Sub(last).Milliseconds())
		a.Counted, lost, more = compare(failures, alerts)
		return lost == 0 && in.count(burst) > 0, nil
	})
	if err != nil && !errors.Is(err, errLate) {
		return err
	}
	// What waits for others is told after an interval at the latest; nothing may follow twice.
	if err := b.Sleep(ctx, (intervalSec+waitSec+1)*time.Second); err != nil {
		return err
	}
	var delays []float64
	for _, one := range runs {
		at, told := in.toldOf(each, one.ID)
		if told {
			delays = append(delays, float64(at.Sub(one.EndTime).Microseconds())/1000)
		}
	}
	a.Delays, a.Messages, a.Untold = measure.Summarize(delays), in.count(each), p.steady-len(delays)
	a.BurstMessages = in.count(burst)
	a.MessageBound = kinds * (int(s.Now().Sub(p.next).Seconds())/intervalSec + 2)
	a.Repeated, a.Unsigned = in.faults()
	r.Alerts, r.Planned = a, planned
	r.Lost, r.Doubled = max(planned-len(runs), 0)+lost, max(len(runs)-planned, 0)+more
	a.Broken = b.broken(a)
	return nil
}

// compare adds up the counts of alerts, and says what of the failures of each job is missing in
// them, and what is too much.
func compare(failures map[string]int, alerts []counted) (sum, lost, more int) {
	left := map[string]int{}
	for id, n := range failures {
		left[id] = n
	}
	for _, a := range alerts {
		sum += a.Count
		left[a.JobID] -= a.Count
	}
	for _, n := range left {
		lost, more = lost+max(n, 0), more+max(-n, 0)
	}
	return sum, lost, more
}

// broken names the promises that did not hold.
func (b Told) broken(a *report.Alerts) []string {
	out := []string{}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	check(a.Untold == 0, "%d failures were not told", a.Untold)
	check(a.Repeated == 0, "%d deliveries were repeated", a.Repeated)
	check(a.Unsigned == 0, "%d deliveries had no valid signature", a.Unsigned)
	check(a.BurstMessages > 0, "the burst was not told")
	check(a.BurstMessages <= a.MessageBound, "the burst made %d messages, more than %d", a.BurstMessages, a.MessageBound)
	if d := a.Delays; d != nil {
		p50, p99 := float64(b.Goals.P50.Milliseconds()), float64(b.Goals.P99.Milliseconds())
		check(d.P50 <= p50, "the p50 is over %.0f ms", p50)
		check(d.P99 <= p99, "the p99 is over %.0f ms", p99)
	}
	return out
}

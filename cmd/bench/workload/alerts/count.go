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

// conclude waits until everything has ended, and compares failures, alerts and messages.
func (b Notified) conclude(ctx context.Context, s rig.System, c *client.Client, in *measure.Receiver, p plan,
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
		alerts, err := client.List[measure.AlertCount](ctx, c, "/alerts", url.Values{"ruleId": {"default-failed"}}, 0)
		if err != nil {
			return false, fmt.Errorf("read the alerts: %w", err)
		}
		a.Alerts, a.Caught = len(alerts), float64(s.Now().Sub(last).Milliseconds())
		a.Counted, lost, more = measure.CompareCounts(failures, alerts)
		return lost == 0 && in.Count(burst) > 0, nil
	})
	if err != nil && !errors.Is(err, errLate) {
		return err
	}
	// An alert that waits for others is told after an interval at the latest; nothing may follow twice.
	if err := b.Sleep(ctx, (intervalSec+waitSec+1)*time.Second); err != nil {
		return err
	}
	var delays []float64
	for _, one := range runs {
		at, told := in.MessageOf(each, one.ID)
		if told {
			delays = append(delays, float64(at.Sub(one.EndTime).Microseconds())/1000)
		}
	}
	a.Delays, a.Messages, a.Unnotified = measure.Summarize(delays), in.Count(each), p.steady-len(delays)
	a.BurstMessages = in.Count(burst)
	a.MessageBound = kinds * (int(s.Now().Sub(p.next).Seconds())/intervalSec + 2)
	a.Repeated, a.Unsigned = in.Faults()
	r.Alerts, r.Planned = a, planned
	r.Lost, r.Doubled = max(planned-len(runs), 0)+lost, max(len(runs)-planned, 0)+more
	a.Conclude(b.Goals)
	return nil
}

// Package httpjobs measures jobs that call a server: when it is called, and what a call costs the node.
package httpjobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// half lies between the calls of two seconds. There the measured span begins and ends.
const half = time.Second / 2

// MaxHosts is the most addresses that a target has.
const MaxHosts = 250

// Configure lets the node call this machine. All else is as configured.
func Configure(cfg config.Config) (config.Config, error) {
	cfg.Executor.HTTP.AllowCIDRs = append(slices.Clone(cfg.Executor.HTTP.AllowCIDRs), "127.0.0.0/8")
	return cfg, nil
}

// Calls measures HTTP jobs that are all due on each whole second.
type Calls struct {
	*rig.Bench
	// Jobs is the number of the jobs, Hosts that of the addresses which they call in turn.
	Jobs, Hosts int
}

// Run lets a server call a target, both in processes of their own. The lateness is from the due time, which a call
// names, to its arrival by the clock of the target.
func (b Calls) Run(ctx context.Context) (r report.Result, err error) {
	l := measure.NewLedger(b.Jobs * int((b.Duration + rig.WarmUp).Seconds()))
	c, err := rig.NewCluster(ctx, b.Bench, l, rig.Shape{Served: true, Calls: true})
	if err != nil {
		return r, err
	}
	defer c.Close(ctx)
	t, err := b.StartTarget(ctx, b.Hosts, l)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.End()) }()
	r = c.Describe(b.Jobs)
	// A node that has the store alone need not wait for the leases of others.
	begin := c.Now().Add(2*rig.StartLead + time.Duration(b.Jobs)*rig.LoadTime).Truncate(time.Second)
	end := begin.Add(rig.WarmUp + b.Duration - half)
	if err := b.load(ctx, c, l, t, begin, end); err != nil {
		return r, err
	}
	if err := c.Start(ctx); err != nil {
		return r, err
	}
	measured := begin.Add(rig.WarmUp)
	if left := begin.Sub(c.Now()); left < 0 {
		return r, fmt.Errorf("the start took %s longer than this bench allows for", -left)
	}
	b.Note("calling %d hosts from %d jobs on each whole second, for %s after %s of warm-up", b.Hosts, b.Jobs, b.Duration,
		rig.WarmUp)
	if err := b.Sleep(ctx, measured.Add(-half).Sub(c.Now())); err != nil {
		return r, err
	}
	if err := b.measure(ctx, c, t, end, &r); err != nil {
		return r, err
	}
	if err := errors.Join(c.Stop(ctx), t.End()); err != nil {
		return r, err
	}
	r.Count(l.Account(end))
	r.LatenessMs = l.Lateness(measured)
	return r, nil
}

// load makes the jobs, which fire until the end.
func (b Calls) load(ctx context.Context, c *rig.Cluster, l *measure.Ledger, t *rig.Target, begin, end time.Time) error {
	b.Note("loading %d jobs, each once a second", b.Jobs)
	var failed error
	err := b.LoadTogether(ctx, c, l, b.Jobs, begin, func(i int, j *entity.Job) {
		data, err := json.Marshal(map[string]string{"url": t.URL(i)})
		failed = errors.Join(failed, err)
		j.Type, j.Class, j.Data, j.Schedule.EndTime = entity.JobHTTP, "", string(data), end
	})
	return errors.Join(err, failed)
}

// measure measures the span until the last run has ended, or until none ends any more.
func (b Calls) measure(ctx context.Context, c *rig.Cluster, t *rig.Target, end time.Time, r *report.Result) error {
	m, err := b.StartMeter(c)
	if err != nil {
		return err
	}
	t.StartMeter()
	from, at := c.Ended(), b.Clock.Monotonic()
	if err := b.Sleep(ctx, end.Sub(c.Now())); err != nil {
		return err
	}
	planned := int64(b.Jobs) * int64((rig.WarmUp + b.Duration).Seconds())
	last, progress := c.Ended(), b.Clock.Monotonic()
	for c.Ended() < planned && b.Clock.Monotonic()-progress < rig.StallBound {
		if err := b.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if n := c.Ended(); n != last {
			last, progress = n, b.Clock.Monotonic()
		}
	}
	took := b.Clock.Monotonic() - at
	r.HTTP = &report.HTTP{Hosts: b.Hosts, TargetPercent: t.Percent()}
	m.Read(r)
	r.ExecutionsPerSecond = float64(c.Ended()-from) / took.Seconds()
	r.HTTP.CPUMicros = report.CostOf(*r).CPUMicros
	return nil
}

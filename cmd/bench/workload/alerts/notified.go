// Package alerts measures how failures reach a webhook, one by one and in a burst.
package alerts

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

const (
	// each and burst are the groups of the jobs, the routes and the paths of the receiver.
	each, burst = "each", "burst"
	// failsPerJob is how often a job of the burst fails, unless the number of jobs is given.
	failsPerJob = 10
	// fullBurst failures come within burstSpan; fewer take less.
	fullBurst = 10_000
	burstSpan = time.Minute
	// minStep is the shortest time between two fires of a job.
	minStep = 100 * time.Millisecond
	// setupSpan is left for the settings after the start, and restSpan between both parts.
	setupSpan = 3 * time.Second
	restSpan  = 5 * time.Second
	// bound is how long messages and alerts may lag.
	bound = time.Minute
	// waitSec and intervalSec are those of the groups of the burst.
	waitSec, intervalSec = 1, 10
	// kinds is how many groups the burst has: one for each type of alert.
	kinds = 2
)

// GoalsOf are those of a configuration: the copies for Kafka may cost some time.
func GoalsOf(cfg config.Config) report.AlertGoals {
	if len(cfg.Kafka.Brokers) > 0 {
		return report.AlertGoals{P50: 2 * time.Second, P99: 2 * time.Second}
	}
	return report.AlertGoals{P50: 300 * time.Millisecond, P99: time.Second}
}

// Configure lets nodes call this machine, and gives them a key to seal channels by.
func Configure(cfg config.Config) (config.Config, error) {
	cfg.Executor.HTTP.AllowCIDRs = append(slices.Clone(cfg.Executor.HTTP.AllowCIDRs), "127.0.0.1/32")
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return cfg, fmt.Errorf("make a key: %w", err)
	}
	cfg.Secrets.Key, cfg.Secrets.FormerKeys = base64.StdEncoding.EncodeToString(key), ""
	return cfg, nil
}

// Notified measures failures until they are told.
type Notified struct {
	*rig.Bench
	// Rate is the failures a second of the steady part. Burst is the failures of the other one, and
	// Jobs how many jobs share them; 0 is a tenth.
	Rate, Burst, Jobs int
	Goals             report.AlertGoals
}

// plan is when what fails.
type plan struct {
	steady, jobs, burst int
	begin, next, end    time.Time
	step                time.Duration
}

func (b Notified) plan(now time.Time) plan {
	p := plan{steady: max(int(b.Duration.Seconds()*float64(b.Rate)), 1), jobs: b.Jobs}
	if p.jobs == 0 {
		p.jobs = max(b.Burst/failsPerJob, 1)
	}
	fails := (b.Burst + p.jobs - 1) / p.jobs
	p.burst = fails * p.jobs
	span := max(min(burstSpan, burstSpan*time.Duration(p.burst)/fullBurst), time.Second)
	p.step = max(span/time.Duration(fails), minStep).Truncate(time.Millisecond)
	load := time.Duration(p.steady+p.jobs) * rig.LoadTime
	p.begin = now.Truncate(time.Second).Add(b.Lead(rig.StartLead) + setupSpan + load)
	p.next = p.begin.Add(b.Duration + restSpan)
	p.end = p.next.Add(time.Duration(fails) * p.step)
	return p
}

// load makes the jobs. Jobs of the steady part fail once, the others at each step.
func (b Notified) load(ctx context.Context, s rig.Writer, p plan) error {
	err := b.LoadJobs(ctx, s, 0, p.steady, func(i int, j *entity.Job) {
		j.Class, j.Group = node.FailClass, each
		j.Schedule.StartTime = p.begin.Add(b.Duration * time.Duration(i) / time.Duration(p.steady)).Truncate(time.Millisecond)
		j.NextFireTime = j.Schedule.StartTime
	})
	if err != nil {
		return err
	}
	return b.LoadJobs(ctx, s, p.steady, p.steady+p.jobs, func(i int, j *entity.Job) {
		j.Class, j.Group = node.FailClass, burst
		offset := p.step * time.Duration(i-p.steady) / time.Duration(p.jobs)
		j.Schedule.IntervalMs = p.step.Milliseconds()
		j.Schedule.StartTime = p.next.Add(offset).Truncate(time.Millisecond)
		j.Schedule.EndTime = j.Schedule.StartTime.Add(p.end.Sub(p.next) - p.step/2)
		j.NextFireTime = j.Schedule.StartTime
	})
}

// Run lets jobs fail, and counts what is told.
func (b Notified) Run(ctx context.Context) (report.Result, error) {
	s, err := b.NewSystem(ctx, measure.NewLedger(0), rig.Shape{Served: true})
	if err != nil {
		return report.Result{}, err
	}
	defer s.Close(ctx)
	in, err := measure.NewReceiver(ctx, s.Now)
	if err != nil {
		return report.Result{}, err
	}
	defer in.Close()
	p := b.plan(s.Now())
	b.Note("loading %d jobs that fail", p.steady+p.jobs)
	if err := b.load(ctx, s, p); err != nil {
		return report.Result{}, err
	}
	r := s.Describe(p.steady + p.jobs)
	if err := s.Start(ctx); err != nil {
		return r, err
	}
	clients, err := s.Clients(ctx)
	if err != nil {
		return r, err
	}
	if err := define(ctx, clients[0], in); err != nil {
		return r, err
	}
	if left := p.begin.Sub(s.Now()); left < 0 {
		return r, fmt.Errorf("the start took %s longer than this bench allows for", -left)
	}
	b.Note("%d jobs fail within %s, each alone; then %d failures come within %s", p.steady, b.Duration, p.burst,
		p.end.Sub(p.next))
	if err := b.Sleep(ctx, p.begin.Sub(s.Now())); err != nil {
		return r, err
	}
	m, err := b.StartMeter(s)
	if err != nil {
		return r, err
	}
	if err := b.Sleep(ctx, p.end.Sub(s.Now())); err != nil {
		return r, err
	}
	m.Read(&r)
	if err := b.conclude(ctx, s, clients[0], in, p, &r); err != nil {
		return r, err
	}
	return r, s.Stop(ctx)
}

// define makes the channels and the routes.
func define(ctx context.Context, c *client.Client, in *measure.Receiver) error {
	for i, name := range []string{each, burst} {
		var channel struct {
			ID string `json:"id"`
		}
		err := c.Call(ctx, http.MethodPost, "/alert-channels", nil, map[string]any{
			"name": name, "type": "WEBHOOK", "config": map[string]string{"url": in.URL + name, "secret": in.Secret()},
		}, &channel)
		if err != nil {
			return fmt.Errorf("make a channel: %w", err)
		}
		route := map[string]any{
			"name": name, "position": i, "match": map[string]string{"group": name}, "channelIds": []string{channel.ID},
		}
		if name == burst {
			route["groupBy"], route["groupWaitSec"], route["groupIntervalSec"] = []string{"alertname"}, waitSec, intervalSec
		}
		if err := c.Call(ctx, http.MethodPost, "/alert-routes", nil, route, nil); err != nil {
			return fmt.Errorf("make a route: %w", err)
		}
	}
	return nil
}

// errLate is a wait that came to its bound.
var errLate = errors.New("it took too long")

// await looks until something is so.
func await(ctx context.Context, b *rig.Bench, every time.Duration, so func() (bool, error)) error {
	for until := b.Clock.Monotonic() + bound; b.Clock.Monotonic() < until; {
		if ok, err := so(); ok || err != nil {
			return err
		}
		if err := b.Sleep(ctx, every); err != nil {
			return err
		}
	}
	return errLate
}

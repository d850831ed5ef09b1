package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// talkEvery is the pause between two lines of one of them: 10,000 lines a
	// second in all.
	talkEvery = 50 * time.Millisecond
	// talkSpan is half of a pair: so long all keep silent, then all talk.
	talkSpan = 4 * time.Second
	// talkClass is the handler of the runs that log.
	talkClass = "talk"
	// talkLoad is the executions a second by which the jobs are counted.
	talkLoad = 30_000
)

// talkGroup is what the talkers share. Safe for concurrent use.
type talkGroup struct {
	clock clock.Clock

	logging atomic.Bool
	over    chan struct{}
	lines   atomic.Int64
	started atomic.Int64
}

func newTalkGroup(c clock.Clock) *talkGroup { return &talkGroup{clock: c, over: make(chan struct{})} }

// run is one talker.
func (g *talkGroup) run(ctx context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
	g.started.Add(1)
	line := "row 4711 of table orders was copied; " + strings.Repeat("x", 60)
	timer := g.clock.NewTimer(talkEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return entity.Failed(entity.ReasonError, "stopped")
		case <-g.over:
			return entity.Succeeded("")
		case <-timer.C():
		}
		if g.logging.Load() {
			rep.Log(entity.LogStdout, line)
			g.lines.Add(1)
		}
		timer.Reset(talkEvery)
	}
}

// talk measures what the logs of other runs cost.
type talk struct{ *rig.Bench }

// Run runs flat out beside talkers that talk and keep silent in turns.
func (b talk) Run(ctx context.Context) (report.Result, error) {
	pairs := max(3, int(b.Duration/(2*talkSpan)))
	jobs := talkLoad * int((rig.WarmUp+time.Duration(2*pairs)*talkSpan)/time.Second)
	g := newTalkGroup(b.Clock)
	observer := b.Observe(func(...measure.StartEvent) {}, map[string]node.Handler{talkClass: g.run})
	e, cfg, err := b.OpenEngine(ctx, observer)
	if err != nil {
		return report.Result{}, err
	}
	b.Note("loading %d jobs, one fire each, and %d that talk", jobs, report.Talkers)
	now := e.Clock.Now().Truncate(time.Millisecond)
	err = b.LoadJobs(ctx, e.Store, 0, jobs+report.Talkers, func(i int, j *entity.Job) {
		if i < report.Talkers {
			j.Class, j.NextFireTime = talkClass, now.Add(-time.Minute)
			return
		}
		j.NextFireTime = now.Add(time.Duration(i) * time.Second / time.Duration(jobs))
	})
	if err != nil {
		return report.Result{}, err
	}
	r := b.NewResult(e.Store.Info(), cfg, jobs+report.Talkers)
	e.Start()
	if err := b.Sleep(ctx, rig.WarmUp); err != nil {
		return r, err
	}
	if n := g.started.Load(); n != report.Talkers {
		return r, fmt.Errorf("%d of %d talkers run; raise --slots", n, report.Talkers)
	}
	used, err := b.StartMeter(nil)
	if err != nil {
		return r, err
	}
	if r.Talk, err = b.pairs(ctx, observer, g, pairs); err != nil {
		return r, err
	}
	used.Read(&r)
	if int(observer.Completed.Load()) >= jobs {
		return r, fmt.Errorf("the load of %d jobs ended before the last pair", jobs)
	}
	close(g.over)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), node.StopBound)
	defer cancel()
	return r, e.Stop(bounded)
}

// pairs measures silence and talk in turns.
func (b talk) pairs(ctx context.Context, observer *node.Observer, g *talkGroup, n int) (*report.Talk, error) {
	t := &report.Talk{Pairs: n}
	var kept []float64
	for i := range n {
		var perSecond [2]float64
		for half, aloud := range []bool{false, true} {
			g.logging.Store(aloud)
			ends, lines, at := observer.Completed.Load(), g.lines.Load(), b.Clock.Monotonic()
			if err := b.Sleep(ctx, talkSpan); err != nil {
				return nil, err
			}
			took := (b.Clock.Monotonic() - at).Seconds()
			perSecond[half] = float64(observer.Completed.Load()-ends) / took
			if aloud {
				t.LinesPerSecond += float64(g.lines.Load()-lines) / took / float64(n)
			}
		}
		b.Note("pair %d: %.0f/s in silence, %.0f/s beside talk", i+1, perSecond[0], perSecond[1])
		t.SilentPerSecond += perSecond[0] / float64(n)
		t.TalkingPerSecond += perSecond[1] / float64(n)
		kept = append(kept, perSecond[1]/perSecond[0])
	}
	slices.Sort(kept)
	t.Kept = measure.Percentile(kept, 50)
	return t, nil
}

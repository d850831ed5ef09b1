package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/makerbench/internal/users"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// tailClass is the handler of the runs whose logs are followed.
	tailClass = "tail"
	// torrentRate is the lines a second of one more run, beside the others.
	torrentRate = 10_000
	// torrentSpan is how long one run may write like that: its log holds 1 MiB.
	torrentSpan = 3 * time.Second
	// torrentTick is the pause between two gushes of the torrent.
	torrentTick = 10 * time.Millisecond
	// perUser is how many logs a user follows, who may follow 20 at once.
	perUser = 10
	// maxTails leaves streams to the fast logs: a node serves 1,000.
	maxTails = 900
)

// logWriters is what the runs that are followed share. Safe for concurrent use.
type logWriters struct {
	clock   clock.Clock
	started chan string
	gate    chan struct{}

	mu      sync.Mutex
	parts   map[string]share
	written map[string]int
}

// share is what one run logs: so many lines a tick, after a wait.
type share struct {
	wait, span, tick time.Duration
	perTick          int
}

// run logs lines with their number and their time, and ends.
func (n *logWriters) run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	id := run.Execution.ID
	n.started <- id
	select {
	case <-n.gate:
	case <-ctx.Done():
		return entity.Failed(entity.ReasonError, "stopped")
	}
	n.mu.Lock()
	p := n.parts[run.Job.ID]
	n.mu.Unlock()
	from := n.clock.Monotonic() + p.wait
	lines := 0
	for tick := from; tick-from < p.span && clock.Sleep(ctx, n.clock, tick-n.clock.Monotonic()) == nil; tick += p.tick {
		for range p.perTick {
			rep.Log(entity.LogStdout, strconv.Itoa(lines)+" "+strconv.FormatInt(n.clock.Monotonic().Microseconds(), 10))
			lines++
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.written[id] = lines
	return entity.Succeeded("")
}

// logs measures logs that are followed while they are written.
type logs struct {
	*rig.Bench
	// Tails are the logs that are followed at once, Rate the lines a second of
	// each of them.
	Tails, Rate int
}

// Run follows many logs at once while they are written, and one that gushes.
func (b logs) Run(ctx context.Context) (report.Result, error) {
	torrents := int((b.Duration + torrentSpan - 1) / torrentSpan)
	runs := b.Tails + torrents
	news := &logWriters{
		clock: b.Clock, started: make(chan string, runs), gate: make(chan struct{}),
		parts: map[string]share{}, written: map[string]int{},
	}
	observer := b.Observe(nil, map[string]node.Handler{tailClass: news.run})
	s, cfg, err := b.OpenServer(ctx, observer)
	if err != nil {
		return report.Result{}, err
	}
	now := s.Clock.Now().Truncate(time.Millisecond)
	torrent := map[string]bool{}
	err = b.LoadJobs(ctx, s.Store, 0, runs, func(i int, j *entity.Job) {
		j.Class, j.NextFireTime = tailClass, now.Add(-time.Minute)
		if i < b.Tails {
			every := time.Second / time.Duration(b.Rate)
			news.parts[j.ID] = share{
				wait: time.Duration(i) * every / time.Duration(b.Tails), span: b.Duration, tick: every,
				perTick: 1,
			}
			return
		}
		torrent[j.ID] = true
		news.parts[j.ID] = share{
			wait: time.Duration(i-b.Tails) * torrentSpan, span: torrentSpan, tick: torrentTick,
			perTick: torrentRate / int(time.Second/torrentTick),
		}
	})
	if err != nil {
		return report.Result{}, err
	}
	r := b.NewResult(s.Store.Info(), cfg, runs)
	if err := s.Start(); err != nil {
		return r, err
	}
	sessions, _, err := users.Add(ctx, s.Store, now, runs, perUser)
	if err != nil {
		return r, err
	}
	b.Note("starting %d runs and following them", runs)
	followers, err := b.follow(ctx, s.URL(), sessions, s.Executions, news, torrent)
	if err != nil {
		return r, err
	}
	used, err := b.StartMeter(nil)
	if err != nil {
		return r, err
	}
	b.Note("%d runs write %d lines a second each, and one after the other %d a second, for %s", b.Tails, b.Rate,
		torrentRate, b.Duration)
	at := b.Clock.Monotonic()
	close(news.gate)
	followers.wait.Wait()
	used.Read(&r)
	r.Tail, r.Planned, r.Lost, r.Doubled, err = followers.sum(news)
	if err != nil {
		return r, err
	}
	r.Tail.LinesPerSecond = float64(r.Tail.Lines) / (b.Clock.Monotonic() - at).Seconds()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), node.StopBound)
	defer cancel()
	if err := s.Stop(stopCtx); err != nil {
		return r, fmt.Errorf("stop the server: %w", err)
	}
	return r, ctx.Err()
}

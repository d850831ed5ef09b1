package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// talkers are the runs that talk or keep silent while others are measured.
	talkers = 500
	// talkEvery is the pause between two lines of one of them: 10,000 lines a
	// second in all.
	talkEvery = 50 * time.Millisecond
	// talkSpan is half of a pair: so long all keep silent, then all talk.
	talkSpan = 4 * time.Second
	// talkClass tells the runs that talk from the others.
	talkClass = "talk"
)

// Talk compares the throughput of a node whose 500 other runs talk with that of
// one whose 500 other runs keep silent, in turns.
type Talk struct {
	SilentPerSecond  float64 `json:"silentPerSecond"`
	TalkingPerSecond float64 `json:"talkingPerSecond"`
	// Kept is the median over the pairs of talking by silent.
	Kept           float64 `json:"kept"`
	LinesPerSecond float64 `json:"linesPerSecond"`
	Pairs          int     `json:"pairs"`
}

// gossip is what the talkers share. Safe for concurrent use.
type gossip struct {
	aloud atomic.Bool
	over  chan struct{}
	lines atomic.Int64
	began atomic.Int64
}

func newGossip() *gossip { return &gossip{over: make(chan struct{})} }

// run is one talker.
func (g *gossip) run(ctx context.Context, b *bench, rep entity.Reporter) entity.Outcome {
	g.began.Add(1)
	line := "row 4711 of table orders was copied; " + strings.Repeat("x", 60)
	timer := b.clock.NewTimer(talkEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return entity.Failed(entity.ReasonError, "stopped")
		case <-g.over:
			return entity.Succeeded("")
		case <-timer.C():
		}
		if g.aloud.Load() {
			rep.Log(entity.LogStdout, line)
			g.lines.Add(1)
		}
		timer.Reset(talkEvery)
	}
}

// talk runs flat out beside talkers that talk and keep silent in turns.
func (b *bench) talk(ctx context.Context) (Result, error) {
	pairs := max(3, int(b.Duration/(2*talkSpan)))
	jobs := assumedRate * int((warmUp+time.Duration(2*pairs)*talkSpan)/time.Second)
	watch := &observer{bench: b, see: func(...sighting) {}, gossip: newGossip()}
	e, cfg, err := b.open(ctx, watch)
	if err != nil {
		return Result{}, err
	}
	b.note("loading %d jobs, one fire each, and %d that talk", jobs, talkers)
	now := e.Clock.Now().Truncate(time.Millisecond)
	err = b.load(ctx, e.Store, 0, jobs+talkers, func(i int, j *entity.Job) {
		if i < talkers {
			j.Class, j.NextFireTime = talkClass, now.Add(-time.Minute)
			return
		}
		j.NextFireTime = now.Add(time.Duration(i) * time.Second / time.Duration(jobs))
	})
	if err != nil {
		return Result{}, err
	}
	r := b.result(e.Store.Info(), cfg, jobs+talkers)
	e.Start()
	if err := b.sleep(ctx, warmUp); err != nil {
		return r, err
	}
	if n := watch.gossip.began.Load(); n != talkers {
		return r, fmt.Errorf("%d of %d talkers run; give the bench more slots", n, talkers)
	}
	used := b.usage()
	if r.Talk, err = b.pairs(ctx, watch, pairs); err != nil {
		return r, err
	}
	r.CPUPercent, r.RSSMb = b.percentSince(used), rssMb(os.Getpid())
	if int(watch.completed.Load()) >= jobs {
		return r, fmt.Errorf("the load of %d jobs ended before the last pair", jobs)
	}
	close(watch.gossip.over)
	return r, stop(ctx, e)
}

// pairs measures silence and talk in turns.
func (b *bench) pairs(ctx context.Context, watch *observer, n int) (*Talk, error) {
	t := &Talk{Pairs: n}
	var kept []float64
	for i := range n {
		var perSecond [2]float64
		for half, aloud := range []bool{false, true} {
			watch.gossip.aloud.Store(aloud)
			ends, lines, at := watch.completed.Load(), watch.gossip.lines.Load(), b.clock.Monotonic()
			if err := b.sleep(ctx, talkSpan); err != nil {
				return nil, err
			}
			took := (b.clock.Monotonic() - at).Seconds()
			perSecond[half] = float64(watch.completed.Load()-ends) / took
			if aloud {
				t.LinesPerSecond += float64(watch.gossip.lines.Load()-lines) / took / float64(n)
			}
		}
		b.note("pair %d: %.0f/s in silence, %.0f/s beside talk", i+1, perSecond[0], perSecond[1])
		t.SilentPerSecond += perSecond[0] / float64(n)
		t.TalkingPerSecond += perSecond[1] / float64(n)
		kept = append(kept, perSecond[1]/perSecond[0])
	}
	slices.Sort(kept)
	t.Kept = percentile(kept, 50)
	return t, nil
}

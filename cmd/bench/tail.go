package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// tailClass tells the runs whose logs are followed.
	tailClass = "tail"
	// torrentRate is the lines a second of one more run, beside the others.
	torrentRate = 10_000
	// torrentSpan is how long one run may write like that: its log holds 1 MiB.
	torrentSpan = 3 * time.Second
	// torrentTick is the pause between two gushes of the torrent.
	torrentTick = 10 * time.Millisecond
)

// Tail is how logs arrived that were followed while they were written. The
// delay of a line is from its writing to its reading by the client, in ms.
type Tail struct {
	Tails          int       `json:"tails"`
	Lines          int       `json:"lines"`
	LinesPerSecond float64   `json:"linesPerSecond"`
	DelayMs        *Lateness `json:"delayMs"`
	TorrentDelayMs *Lateness `json:"torrentDelayMs"`
	// Reconnects counts streams that ended before their run and were opened again.
	Reconnects int `json:"reconnects"`
}

// newsroom is what the runs that are followed share. Safe for concurrent use.
type newsroom struct {
	b     *bench
	begun chan string
	gate  chan struct{}

	mu    sync.Mutex
	parts map[string]part
	said  map[string]int
}

// part is what one run has to say: so many lines a tick, after a wait.
type part struct {
	wait, span, tick time.Duration
	perTick          int
}

// run writes lines that tell their number and their moment, and ends.
func (n *newsroom) run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	id := run.Execution.ID
	n.begun <- id
	select {
	case <-n.gate:
	case <-ctx.Done():
		return entity.Failed(entity.ReasonError, "stopped")
	}
	n.mu.Lock()
	p := n.parts[run.Job.ID]
	n.mu.Unlock()
	from := n.b.clock.Monotonic() + p.wait
	lines := 0
	for tick := from; tick-from < p.span && n.b.sleep(ctx, tick-n.b.clock.Monotonic()) == nil; tick += p.tick {
		for range p.perTick {
			rep.Log(entity.LogStdout, strconv.Itoa(lines)+" "+strconv.FormatInt(n.b.clock.Monotonic().Microseconds(), 10))
			lines++
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said[id] = lines
	return entity.Succeeded("")
}

// tail follows many logs at once while they are written, and one that gushes.
func (b *bench) tail(ctx context.Context) (Result, error) {
	torrents := int((b.Duration + torrentSpan - 1) / torrentSpan)
	runs := b.Tails + torrents
	news := &newsroom{b: b, begun: make(chan string, runs), gate: make(chan struct{}), parts: map[string]part{}, said: map[string]int{}}
	watch := &observer{bench: b, newsroom: news}
	s, cfg, err := b.serve(ctx, watch)
	if err != nil {
		return Result{}, err
	}
	now := s.Clock.Now().Truncate(time.Millisecond)
	torrent := map[string]bool{}
	err = b.load(ctx, s.Store, 0, runs, func(i int, j *entity.Job) {
		j.Class, j.NextFireTime = tailClass, now.Add(-time.Minute)
		if i < b.Tails {
			every := time.Second / time.Duration(b.Rate)
			news.parts[j.ID] = part{wait: time.Duration(i) * every / time.Duration(b.Tails), span: b.Duration, tick: every, perTick: 1}
			return
		}
		torrent[j.ID] = true
		news.parts[j.ID] = part{
			wait: time.Duration(i-b.Tails) * torrentSpan, span: torrentSpan, tick: torrentTick, perTick: torrentRate / int(time.Second/torrentTick),
		}
	})
	if err != nil {
		return Result{}, err
	}
	r := b.result(s.Store.Info(), cfg, runs)
	if err := s.Start(); err != nil {
		return r, err
	}
	c, err := signIn(ctx, s.URL(), 0)
	if err != nil {
		return r, err
	}
	b.note("starting %d runs and following them", runs)
	followers, err := b.follow(ctx, c, s.Executions, news, runs, torrent)
	if err != nil {
		return r, err
	}
	done, err := b.profile()
	if err != nil {
		return r, err
	}
	b.note("%d runs write %d lines a second each, and one after the other %d a second, for %s", b.Tails, b.Rate, torrentRate, b.Duration)
	used, at := b.usage(), b.clock.Monotonic()
	close(news.gate)
	followers.wait.Wait()
	r.CPUPercent, r.RSSMb = b.percentSince(used), rssMb(os.Getpid())
	done()
	r.Tail, r.Planned, r.Lost, r.Doubled, err = followers.sum(news)
	if err != nil {
		return r, err
	}
	r.Tail.LinesPerSecond = float64(r.Tail.Lines) / (b.clock.Monotonic() - at).Seconds()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := s.Stop(stopCtx); err != nil {
		return r, fmt.Errorf("stop the server: %w", err)
	}
	return r, ctx.Err()
}

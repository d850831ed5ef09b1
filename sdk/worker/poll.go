package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

const (
	// maxPolls bounds the polls that are under way: the newest, and older ones that their server has not ended yet.
	maxPolls = 3
	// emptyPause is the first pause after an answer that came early and brought nothing.
	emptyPause = 50 * time.Millisecond
)

// polled is what came of a poll.
type polled struct {
	seq int64
	err error
	// pause is how long the server asks to wait. early: it answered before its time, with nothing.
	pause time.Duration
	early bool
}

// polls keeps one poll with a server, until the life is over. A newer one is sent when a slot was freed, or the worker
// begins to stop; the server ends the older one.
func (l *life) polls(ctx context.Context) {
	results := make(chan polled, maxPolls)
	under, early := 0, 0
	for ctx.Err() == nil {
		seq, ok := l.sendPoll(ctx, results)
		if !ok {
			break
		}
		under++
		for newest := true; newest; {
			kick := l.kick
			if under >= maxPolls {
				kick = nil
			}
			select {
			case <-ctx.Done():
				newest = false
			case <-kick:
				newest = !l.wantsPoll()
			case r := <-results:
				under--
				l.pollDone()
				if r.seq != seq {
					continue
				}
				newest = false
				if early++; !r.early {
					early = 0
				}
				l.rest(ctx, r, early)
			}
		}
	}
	for ; under > 0; under-- {
		<-results
	}
}

// rest waits before the next poll, where the answer to the last one asks for it.
func (l *life) rest(ctx context.Context, r polled, early int) {
	pause := r.pause
	switch {
	case r.err != nil:
		pause = l.trouble(ctx, r.err, "poll")
	case early > 0:
		l.mu.Lock()
		pause = max(pause, min(emptyPause<<min(early, 10), l.beat/2))
		l.mu.Unlock()
		timer := l.w.clock.NewTimer(pause)
		defer timer.Stop()
		select { // a change is worth a call
		case <-timer.C():
		case <-l.kick:
		case <-ctx.Done():
		}
		return
	}
	_ = clock.Sleep(ctx, l.w.clock, pause) // the loop looks at ctx
}

// sendPoll sends the newest poll; what came of it goes to results. It is false once the life is over.
func (l *life) sendPoll(ctx context.Context, results chan<- polled) (seq int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.isQuiet {
		return 0, false
	}
	now := l.now()
	p := l.state.Poll(now)
	left := l.w.leftOver(l)
	if l.w.refusedSince() {
		p.Free = attempts.Slots{} // the token is refused: nothing new until it is taken again
	}
	call := pollCall{
		Epoch: p.Epoch, Seq: p.Seq, Ack: p.Ack, Stopping: p.Stopping, Running: make([]string, 0, len(p.Running)),
		Free:         max(p.Free[attempts.General]-left[attempts.General], 0),
		FreeCommands: max(p.Free[attempts.Command]-left[attempts.Command], 0),
		WaitMs:       min(l.wait, l.beat).Milliseconds(),
	}
	for _, a := range p.Running {
		call.Running = append(call.Running, fmt.Sprintf("%s:%d", a.Execution, a.Token))
	}
	l.offered = attempts.Slots{call.Free, call.FreeCommands}
	l.offeredStopping = p.Stopping
	l.underWay++
	sent := l.w.clock.Monotonic()
	l.loops.Go(func() {
		var answer pollAnswer
		err := l.w.client.call(ctx, millis(call.WaitMs)+callWait, l.path("poll"), call, &answer)
		r := polled{seq: call.Seq, err: err}
		if err == nil {
			l.w.taken()
			l.take(ctx, call, answer)
			r.pause = min(millis(answer.RetryAfterMs), l.longestPause())
			if answer.RetryAfterMs > 0 {
				server, _ := l.w.client.current()
				l.w.client.leaveServer(server)
			}
			took := l.w.clock.Monotonic() - sent
			r.early = len(answer.Runs)+len(answer.Cancel) == 0 && took < millis(call.WaitMs)/2
		}
		results <- r
	})
	return p.Seq, true
}

// take does what an answer asks for.
func (l *life) take(ctx context.Context, call pollCall, answer pollAnswer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer.BeatMs > 0 {
		l.beat = millis(answer.BeatMs)
	}
	if answer.WaitMs > 0 {
		l.wait = millis(answer.WaitMs)
	}
	if answer.Drain && !l.drained && !l.stopping {
		l.w.log.Info("an operator lets this worker run out")
	}
	l.drained = answer.Drain
	work := l.state.Answer(answer.answer(), l.now())
	begin := map[attempts.Attempt]bool{}
	for _, r := range work.Begin {
		begin[r.Attempt] = true
	}
	for _, r := range answer.Runs {
		if name := r.run().Attempt; begin[name] {
			delete(begin, name)
			l.begin(ctx, r)
		}
	}
	l.giveBack(answer.Runs)
	for _, s := range work.Stop {
		for _, a := range l.held {
			if a.Attempt == s.Attempt {
				a.stop(causeOf(s.Reason))
			}
		}
	}
	l.stopHeard = l.stopHeard || call.Stopping && answer.Seq == call.Seq
}

// causeOf is what the context of an attempt is cancelled with.
func causeOf(reason string) error {
	switch reason {
	case "timeout":
		return entity.ErrStopTimeout
	case "lost":
		return entity.ErrStopLost
	}
	return entity.ErrStopCancel
}

// wantsPoll reports whether a newer poll would say something that matters: that the worker stops, or has many more
// free slots than the newest poll says.
func (l *life) wantsPoll() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping && !l.offeredStopping || l.pollAtOnce {
		l.pollAtOnce = false
		return true
	}
	if l.stopping || l.w.refusedSince() {
		return false
	}
	busy, left := l.busySlots(), l.w.leftOver(l)
	for kind, slots := range l.slots {
		if free := slots - busy[kind] - left[kind]; free > 2*l.offered[kind] {
			return true
		}
	}
	return false
}

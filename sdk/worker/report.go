package worker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

const (
	// gather is how long lines, progress and checkpoints wait for more of them.
	gather = 500 * time.Millisecond
	// maxReport bounds the items of a report, in bytes; the servers take 1 MiB.
	maxReport = 900 << 10
	// again is the pause before ends are sent once more that a server could not decide about.
	again = 500 * time.Millisecond
)

// said is an attempt in a report, and up to which change of it.
type said struct {
	attempt *attempt
	upTo    int
	ends    bool
}

// reports sends what the attempts of a life have to say, one report at a time, until the life is over.
func (l *life) reports(ctx context.Context) {
	for l.await(ctx, l.soon) {
		timer := l.w.clock.NewTimer(gather)
		select {
		case <-timer.C():
		case <-l.urgent:
		case <-ctx.Done():
		}
		timer.Stop()
		for ctx.Err() == nil {
			pause, more := l.report(ctx)
			if pause > 0 && clock.Sleep(ctx, l.w.clock, pause) != nil || !more {
				break
			}
		}
	}
}

// report sends one report. It returns how long to wait before the next one, and whether there is more to say.
func (l *life) report(ctx context.Context) (pause time.Duration, more bool) {
	call, sent, more := l.collect()
	if len(sent) == 0 {
		return 0, false
	}
	var answer reportAnswer
	if err := l.w.client.call(ctx, reportWait, l.path("report"), call, &answer); err != nil {
		return l.refused(ctx, err, sent), true
	}
	l.batch = maxItemsDefault
	undecided := l.receive(sent, answer)
	if undecided {
		server, _ := l.w.client.current()
		l.w.client.leaveServer(server) // it cannot reach the store, perhaps another one can
		return again, true
	}
	return 0, more
}

// refused takes a report that was not taken, and returns how long to wait before it is sent again.
func (l *life) refused(ctx context.Context, err error, sent []said) time.Duration {
	var p *problem
	if errors.As(err, &p) && slices.Contains([]int{
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
	}, p.status) {
		l.w.log.Error("a server refuses a report", "error", err)
		if len(sent) == 1 { // the others must not suffer from this one
			sent[0].attempt.mu.Lock()
			sent[0].attempt.bare = true
			sent[0].attempt.mu.Unlock()
		}
		l.batch = 1
		return firstPause
	}
	return l.trouble(ctx, err, "report")
}

// collect makes a report of what the attempts have to say: the oldest first, and those of the last report last.
func (l *life) collect() (call reportCall, sent []said, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if call.Epoch = l.epoch; l.ended {
		return call, nil, false
	}
	now := l.w.clock.Monotonic()
	bytes, most := 0, min(l.batch, l.maxItems)
	for i, a := range l.held {
		item, upTo, all, some := a.item(now)
		if !some {
			continue
		}
		raw, err := encode(item)
		if err != nil { // texts and numbers can be encoded
			l.w.log.Error("encode a report", "error", err)
			continue
		}
		if len(sent) >= most || len(sent) > 0 && bytes+len(raw) > maxReport {
			l.held = append(slices.Clone(l.held[i:]), l.held[:i]...)
			return call, sent, true
		}
		bytes += len(raw)
		call.Items = append(call.Items, json.RawMessage(raw))
		sent = append(sent, said{a, upTo, item.End != nil})
		more = more || !all
	}
	return call, sent, more
}

// receive takes the answer to a report. It reports whether a server could not decide about some of the ends.
func (l *life) receive(sent []said, answer reportAnswer) (undecided bool) {
	got := map[attempts.Attempt]receipt{}
	for _, r := range answer.Items {
		got[attempts.Attempt{Execution: r.ExecutionID, Token: r.Token}] = r
	}
	var receipts []attempts.Receipt
	for _, s := range sent {
		r, ok := got[s.attempt.Attempt]
		if ok && s.attempt.heardOf(s.upTo, r.Line) {
			l.tell(false)
		}
		decided := r.Receipt == accepted || r.Receipt == duplicate || r.Receipt == stale
		switch {
		case s.ends && decided:
			receipts = append(receipts, attempts.Receipt{Attempt: s.attempt.Attempt, Kind: r.Receipt})
		case s.ends:
			undecided = true
		case r.Receipt == stale: // nobody waits for it any more
			s.attempt.stop(entity.ErrStopLost)
		}
	}
	l.freed(receipts)
	return undecided
}

// freed takes the receipts of ends: they free slots.
func (l *life) freed(receipts []attempts.Receipt) {
	if len(receipts) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Receipts(receipts, l.now())
	gone := map[attempts.Attempt]bool{}
	for _, r := range receipts {
		gone[r.Attempt] = true
	}
	l.held = slices.DeleteFunc(l.held, func(a *attempt) bool { return gone[a.Attempt] })
	l.wake()
	l.checkQuiet()
}

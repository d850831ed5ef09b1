package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/logbuffer"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Item is what a report says of one attempt.
type Item struct {
	delivery.Attempt
	// Number is that of the attempt within its run, as it was delivered.
	Number int
	// LineFrom is the number of the first of Lines, from 1 within the attempt. Lines that were taken before are dropped.
	LineFrom int64
	Lines    []string
	// Progress is 0–100, negative where it was not said; Checkpoint nil likewise.
	Progress   int
	Checkpoint *string
	// End is what the attempt came to; nil while it goes on.
	End *End
}

// End is the end of an attempt, as its worker says it.
type End struct {
	Outcome entity.Outcome
	// Took is how long it took, Ago how long ago it ended, by the worker's own measure of time.
	Took, Ago time.Duration
}

// between is when the attempt ran, by the store's clock. It began after it was claimed, whatever its worker measures.
func (e *End) between(claimed, now time.Time) (start, end time.Time) {
	end = now.Add(-e.Ago)
	if end.Before(claimed) {
		end = claimed
	}
	start = end.Add(-max(e.Took, 0))
	if start.Before(claimed) {
		start = claimed
	}
	return start, end
}

// Receipt is what an item gets.
type Receipt struct {
	delivery.Attempt
	// Receipt is empty for an item without an end that was taken.
	Receipt delivery.Receipt
	// Line is the number of the newest line that the store has, together with all before it.
	Line int64
}

// Report takes what a worker says of its attempts, and answers when each end has its receipt, or after two seconds.
// An item that cannot be decided by then gets RETRY.
func (g *Gateway) Report(ctx context.Context, workerID string, epoch int64, items []Item) ([]Receipt, error) {
	if !g.enter() {
		return nil, errAway()
	}
	defer g.reports.Done()
	s := g.session(workerID, epoch)
	if s == nil {
		return nil, errEpochLost()
	}
	s.mu.Lock()
	s.seen = g.Elapsed()
	over := s.over
	s.mu.Unlock()
	if over != nil {
		return nil, over
	}
	ctx, cancel := context.WithTimeout(ctx, receiptWait)
	defer cancel()
	if err := g.know(ctx, s, items); err != nil {
		return nil, errAway()
	}
	out := make([]Receipt, len(items))
	var ends sync.WaitGroup
	for i := range items {
		item := &items[i]
		out[i] = Receipt{Attempt: item.Attempt}
		a := s.said(item)
		if a == nil {
			out[i].Receipt = delivery.ReceiptStale
			continue
		}
		if item.End == nil {
			continue
		}
		ends.Go(func() {
			if out[i].Receipt = g.end(ctx, s, a, item); out[i].Receipt != delivery.ReceiptRetry {
				out[i].Line = item.LineFrom + int64(len(item.Lines)) - 1 // it is over: nobody asks for more
			}
		})
	}
	ends.Wait()
	g.awaitLines(ctx, s, items, out)
	return out, nil
}

// awaitLines has the receipts of attempts that go on say how far their logs are stored, when what was sent is.
func (g *Gateway) awaitLines(ctx context.Context, s *session, items []Item, out []Receipt) {
	for {
		flushed := g.whenFlushed()
		missing := false
		s.mu.Lock()
		for i := range items {
			if a := s.attempts[items[i].Attempt]; a != nil && items[i].End == nil {
				out[i].Line = min(a.log.Stored(), a.lines)
				missing = missing || out[i].Line < a.lines && len(items[i].Lines) > 0
			}
		}
		s.mu.Unlock()
		if !missing {
			return
		}
		select {
		case g.flushNow <- struct{}{}:
		default:
		}
		select {
		case <-flushed:
		case <-ctx.Done():
			return
		}
	}
}

// whenFlushed is closed after the next flush.
func (g *Gateway) whenFlushed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.flushed
}

// know reads the attempts of a report that this gateway has not met, by one statement.
func (g *Gateway) know(ctx context.Context, s *session, items []Item) error {
	var ids []string
	asked := map[string][]*Item{}
	s.mu.Lock()
	for i := range items {
		item := &items[i]
		if s.attempts[item.Attempt] != nil {
			continue
		}
		if asked[item.Execution] == nil {
			ids = append(ids, item.Execution)
		}
		asked[item.Execution] = append(asked[item.Execution], item)
	}
	s.mu.Unlock()
	read, err := g.meetRuns(ctx, ids)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range read {
		for _, item := range asked[m.run.Execution.ID] {
			s.meetAs(g, m, item)
		}
	}
	return nil
}

// meetAs keeps an attempt as its worker names it; the caller holds the lock. The row may be in other hands by now. Then
// an end alone is taken: the store refuses it, and it gets its receipt from what is found there. Runs of other worker
// groups are none of the worker's at all.
func (s *session) meetAs(g *Gateway, m met, item *Item) {
	e := *m.run.Execution
	if e.Status != entity.StatusRunning || e.Token != item.Token || e.NodeID != s.id || e.Epoch != s.epoch {
		group := worker.GroupOf(s.id)
		if item.End == nil || m.run.Job.Routing.Workers != group && worker.GroupOf(e.NodeID) != group {
			return
		}
		m.gone = true
		e.Status, e.NodeID, e.Epoch, e.Token = entity.StatusRunning, s.id, s.epoch, item.Token
		e.Attempt, e.Claim = item.Number, entity.RunningKey(s.id)
	}
	m.run.Execution = &e
	s.meet(g, m)
}

// said takes what an item says beside an end; nil where the attempt is not known.
func (s *session) said(item *Item) *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[item.Attempt]
	if a == nil || a.gone {
		return a
	}
	for i, line := range item.Lines {
		if number := item.LineFrom + int64(i); number > a.lines {
			a.lines = number
			a.log.LogAt(number, entity.LogStdout, a.hiding.Text(line))
		}
	}
	if item.Progress >= 0 {
		a.log.Progress(item.Progress)
	}
	if item.Checkpoint != nil && !a.hiding.Unknown { // the next attempt goes on better from the former one
		a.log.Checkpoint(a.hiding.Text(*item.Checkpoint))
	}
	return a
}

// end stores an end and returns its receipt.
func (g *Gateway) end(ctx context.Context, s *session, a *attempt, item *Item) delivery.Receipt {
	o := item.End.Outcome
	o.Message, o.Result, o.Checkpoint = a.hiding.Text(o.Message), a.hiding.Text(o.Result), a.hiding.Text(o.Checkpoint)
	if a.hiding.Unknown {
		o.Checkpoint = ""
	}
	a.log.End(&o)
	start, end := item.End.between(a.run.Execution.StartTime, g.StoreClock.Now())
	receipt := g.Ends.Report(ctx, &completion.Result{
		Run: a.run, Outcome: o, Start: start, End: end, Took: max(item.End.Took, 0), Log: a.log,
	})
	if receipt != delivery.ReceiptRetry {
		s.mu.Lock()
		delete(s.attempts, item.Attempt)
		s.mu.Unlock()
	}
	return receipt
}

// flush stores lines, progress and checkpoints of attempts that go on.
func (g *Gateway) flush(ctx context.Context) error {
	if pause := flushPause - (g.Elapsed() - g.flushedAt); pause > 0 {
		if err := clock.Sleep(ctx, g.Clock, pause); err != nil {
			return err
		}
	}
	defer func() {
		g.flushedAt = g.Elapsed()
		g.mu.Lock()
		defer g.mu.Unlock()
		close(g.flushed)
		g.flushed = make(chan struct{})
	}()
	var buffers []*logbuffer.Buffer
	g.each(func(s *session) {
		for _, a := range s.attempts {
			buffers = append(buffers, a.log)
		}
	})
	return logbuffer.Flush(ctx, g.Store, buffers)
}

package completion

import (
	"context"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// report is an end that a worker has sent, which waits for its receipt. Until a transaction takes it, it can be
// withdrawn: who got no receipt sends it again, perhaps to another node.
type report struct {
	mu        sync.Mutex
	storing   bool
	withdrawn bool
	receipt   delivery.Receipt
	decided   chan struct{}
}

// Report hands in an end that a worker has sent, and returns its receipt. When ctx ends first it is RETRY: the end is
// not stored later, unless a transaction was under way with it. The end must not be used again. Like Add, it must not
// be called after Close.
func (m *Completer) Report(ctx context.Context, f *Result) delivery.Receipt {
	f.report = &report{decided: make(chan struct{})}
	select {
	case m.results <- f:
	case <-ctx.Done():
		return delivery.ReceiptRetry
	}
	select {
	case <-f.report.decided:
		return f.report.receipt
	case <-ctx.Done():
		return f.report.withdraw()
	}
}

// withdraw takes the end back, and returns its receipt if there is one by now.
func (r *report) withdraw() delivery.Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.receipt != "" {
		return r.receipt
	}
	r.withdrawn = !r.storing
	return delivery.ReceiptRetry
}

// begin says that a transaction takes the end; false where it was withdrawn. pause says that it failed.
func (r *report) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.storing = !r.withdrawn
	return r.storing
}

func (r *report) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.storing = false
}

// decide tells the one who waits; once, and not one who has withdrawn.
func (r *report) decide(receipt delivery.Receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.withdrawn || r.receipt != "" {
		return
	}
	r.receipt = receipt
	close(r.decided)
}

// begin leaves out the ends that were withdrawn, and keeps the others from being so.
func (m *Completer) begin(items []*Result) []*Result {
	var withdrawn []*Result
	for _, f := range items {
		if f.report != nil && !f.report.begin() {
			withdrawn = append(withdrawn, f)
		}
	}
	if len(withdrawn) == 0 {
		return items
	}
	m.releaseResults(withdrawn)
	return unstored(items)
}

// pause lets reports be withdrawn whose transaction failed. One without an answer may have stored them; who sends the
// end again finds out.
func pause(items []*Result) {
	for _, f := range items {
		if f.report != nil && !f.stored {
			f.report.pause()
		}
	}
}

// decide gives each report that was stored or refused its receipt.
func decide(items []*Result) {
	for _, f := range items {
		if f.report != nil {
			f.report.decide(f.receipt)
		}
	}
}

// receiptFor is what an end gets that the store did not take.
func (m *Completer) receiptFor(ctx context.Context, f *Result, exec *entity.Execution) (delivery.Receipt, error) {
	e := f.Run.Execution
	end := delivery.End{
		Worker: e.NodeID, Epoch: e.Epoch, Attempt: delivery.Attempt{Execution: e.ID, Token: e.Token},
		Status: f.Outcome.Status, Reason: f.Outcome.Reason,
	}
	found := delivery.Found{Decided: true, Execution: exec}
	if exec != nil {
		attempts, err := m.Executions.Attempts(ctx, e.ID)
		if err != nil {
			return "", err
		}
		for _, a := range attempts {
			if a.Attempt == e.Attempt && a.NodeID == e.NodeID {
				found.Attempts = append(found.Attempts, a)
			}
		}
	}
	return delivery.ReceiptFor(end, found), nil
}

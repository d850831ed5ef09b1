package gateway

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Delivery is a run as a worker gets it.
type Delivery struct {
	Run entity.Run
	// Data is the job's data with its placeholders filled, Secrets the values that it names.
	Data    string
	Secrets map[string]string
	// Timeout is what is left of the attempt's time; 0 is no limit.
	Timeout time.Duration
}

// deliver makes the runs of an answer whole. One that cannot be given to anybody, because its data are wrong, ends here
// and is left out.
func (g *Gateway) deliver(ctx context.Context, s *session, a delivery.Answer) (Answer, error) {
	out := Answer{Answer: a}
	s.mu.Lock()
	out.Drain = s.row.Status == worker.Draining
	s.mu.Unlock()
	for _, r := range a.Runs {
		s.mu.Lock()
		known := s.attempts[r.Attempt]
		s.mu.Unlock()
		if known == nil {
			continue // it has ended since
		}
		data, secrets, refused := g.Payload(ctx, known.run)
		if refused != nil {
			g.refuse(ctx, known, *refused)
			continue
		}
		out.Deliveries = append(out.Deliveries, Delivery{
			Run: known.run, Data: data, Secrets: secrets, Timeout: g.begin(s, known, secrets),
		})
	}
	return out, nil
}

// begin notes what a delivery gives the attempt, and returns what is left of its time.
func (g *Gateway) begin(s *session, a *attempt, secrets map[string]string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secrets) > 0 {
		a.hide = redact.Hider(slices.Collect(maps.Values(secrets)))
	}
	limit := a.run.Job.Timeout()
	if limit <= 0 {
		return 0
	}
	// The worker's own clock begins when it has the run. A repeated delivery gets what the first one had left.
	if a.deadline == 0 {
		a.deadline = g.Elapsed() + limit
	}
	return max(a.deadline-g.Elapsed(), time.Millisecond)
}

// refuse ends a run that no worker can begin.
func (g *Gateway) refuse(ctx context.Context, a *attempt, o entity.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, receiptWait)
	defer cancel()
	now := g.StoreClock.Now()
	g.Ends.Report(ctx, &completion.Result{Run: a.run, Outcome: o, Start: now, End: now, Log: a.log})
}

package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// Delivery is a run as a worker gets it.
type Delivery struct {
	Run entity.Run
	// Data is the job's data with its placeholders filled.
	Data string
	// Timeout is what is left of the attempt's time; 0 is no limit.
	Timeout time.Duration
}

// deliver makes the runs of an answer whole. One that cannot be given to anybody, because its data are wrong, ends here
// and is left out. So is one whose secrets cannot be opened now: its worker does not list it, and is given it again.
func (g *Gateway) deliver(ctx context.Context, s *session, c Call, a delivery.Answer) Answer {
	out, bytes := Answer{Answer: a}, 0
	s.mu.Lock()
	out.Drain, out.Beat = s.row.Status == worker.Draining, s.row.Beat
	s.mu.Unlock()
	for _, r := range a.Runs {
		s.mu.Lock()
		known := s.attempts[r.Attempt]
		s.mu.Unlock()
		if known == nil {
			continue // it has ended since
		}
		data, refused, err := g.payload(ctx, s, known)
		switch {
		case err != nil:
			g.Logger.Warn("a run cannot be given to its worker now", "execution", r.Execution, "worker", s.id, "error", err)
		case refused != nil:
			g.refuse(ctx, known, *refused)
		default:
			d := Delivery{Run: known.run, Data: data}
			if bytes += c.Size(d); bytes > c.Most && len(out.Deliveries) > 0 {
				s.mu.Lock()
				s.delivery.Cut(a.Seq)
				s.mu.Unlock()
				return out
			}
			d.Timeout = g.begin(s, known)
			out.Deliveries = append(out.Deliveries, d)
		}
	}
	return out
}

// payload fills the placeholders of a run. The secrets among them are opened for groups alone that may have them, and
// kept with the attempt before they leave, so that each gateway can hide them in what the worker says.
func (g *Gateway) payload(
	ctx context.Context,
	s *session,
	a *attempt,
) (data string, refused *entity.Outcome, err error) {
	run := a.run
	if limit := run.Job.Timeout(); limit > 0 {
		run.Deadline = g.StoreClock.Now().Add(limit)
	}
	if names := placeholder.SecretNames(run.Job.Data); len(names) > 0 {
		may, err := g.maySee(ctx, s.group())
		if err != nil {
			return "", nil, err
		}
		if !may {
			o := entity.Failed(entity.ReasonSecretMissing, fmt.Sprintf("the job names the secret %s, and the worker group %s "+
				"gets no secrets: let an administrator allow them for it", names[0], s.group()))
			o.NoRetry = true
			return "", &o, nil
		}
		if run.Secrets, err = g.Secrets.Open(ctx, run.Job.Group, names); err != nil {
			return "", nil, fmt.Errorf("open its secrets: %w", err)
		}
		if !a.opened && len(run.Secrets) > 0 {
			if _, err := g.Tokens.Issue(ctx, run); err != nil {
				return "", nil, fmt.Errorf("keep which secrets it opens: %w", err)
			}
		}
		s.mu.Lock()
		a.opened, a.hiding = true, redact.Hide(slices.Collect(maps.Values(run.Secrets)))
		s.mu.Unlock()
	}
	data, refused = g.Expand(run)
	return data, refused, nil
}

// maySee reports whether a worker group gets secrets. Before it says no, which ends a run for good, it reads the groups
// anew: they may have been allowed a moment ago.
func (g *Gateway) maySee(ctx context.Context, group string) (bool, error) {
	g.mu.Lock()
	known := g.groups[group]
	g.mu.Unlock()
	if known.Secrets {
		return true, nil
	}
	groups, err := g.readGroups(ctx)
	if err != nil {
		return false, err
	}
	known, ok := groups[group]
	if !ok {
		return false, fmt.Errorf("there is no worker group %s", group)
	}
	return known.Secrets, nil
}

// begin notes that an attempt is delivered, and returns what is left of its time. The worker's own clock begins when it
// has the run. A repeated delivery gets what the first one here had left.
func (g *Gateway) begin(s *session, a *attempt) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, now := a.run.Job.Timeout(), g.Elapsed()
	if limit <= 0 {
		return 0
	}
	if !a.delivered {
		a.delivered, a.deadline = true, now+limit
	}
	return max(a.deadline-now, time.Millisecond)
}

// refuse ends a run that no worker can begin.
func (g *Gateway) refuse(ctx context.Context, a *attempt, o entity.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, receiptWait)
	defer cancel()
	now := g.StoreClock.Now()
	g.Ends.Report(ctx, &completion.Result{Run: a.run, Outcome: o, Start: now, End: now, Log: a.log})
}

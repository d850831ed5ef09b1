package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

const (
	// headsPerSlot is how many runs are looked at for a free slot: some may need a handler that no worker here has.
	headsPerSlot = 4
	// claimAtOnce bounds the runs of one transaction.
	claimAtOnce = 500
)

// claiming is one look for runs of a worker group.
type claiming struct {
	*Gateway
	group    string
	sessions []*session
	free     map[*session]entity.Slots
	seqs     map[*session]int64
	given    map[*session][]delivery.Run
}

// run claims what the sessions have free slots for. A session's claim is noted before the store is asked, so that its
// poll is given no more than it can take, whatever becomes of the answer.
func (c *claiming) run(ctx context.Context) error {
	c.waitsFor(c.group, false) // runs that come from now on say so
	queues, err := c.queues(ctx, c.group)
	if err != nil || len(queues) == 0 {
		return err
	}
	c.waitsFor(c.group, true)
	c.free, c.seqs, c.given = map[*session]entity.Slots{}, map[*session]int64{}, map[*session][]delivery.Run{}
	var all entity.Slots
	everyone := c.everyone()
	// Of workers that are equally free, now this one gets a run first and now that one.
	from := int(c.Random() * float64(len(everyone)))
	for i := range everyone {
		s := everyone[(from+i)%len(everyone)]
		if s.group() != c.group {
			continue
		}
		s.mu.Lock()
		if free := s.credits(); free != (entity.Slots{}) {
			c.sessions = append(c.sessions, s)
			c.free[s], c.seqs[s] = free, s.delivery.Claiming()
			for kind, n := range free {
				all[kind] = min(all[kind]+n, claimAtOnce)
			}
		}
		s.mu.Unlock()
	}
	known := false
	defer func() { c.end(known) }()
	matches, err := c.match(ctx, queues, all)
	if err != nil || len(matches) == 0 {
		known = true // nothing was asked for
		return err
	}
	known, err = c.take(ctx, queues, matches)
	return err
}

// match is the worker that is to have a run, and the job as it was read for the choice.
type match struct {
	*session
	job *entity.Job
}

// match chooses a worker for each of the first runs of the queues, by what the runs ask for and the workers have. It
// reads as many as there are free slots. Only where one of them finds no worker it reads more, so that those behind it
// get their turn in the same order.
func (c *claiming) match(ctx context.Context, queues []entity.Queue, free entity.Slots) (map[string]match, error) {
	matches, left := map[string]match{}, free
	for _, perSlot := range []int{1, headsPerSlot} {
		heads, more, err := c.heads(ctx, queues, free, perSlot)
		if err != nil {
			return nil, err
		}
		heads = slices.DeleteFunc(heads, func(e *entity.Execution) bool { return matches[e.ID].session != nil })
		jobs, err := c.Jobs.For(ctx, heads)
		if err != nil {
			return nil, fmt.Errorf("load the jobs of runs that wait for workers: %w", err)
		}
		passedOver := false
		for _, e := range heads {
			if passedOver && more && perSlot == 1 || len(matches) == claimAtOnce {
				break
			}
			job := jobs.Of(e)
			switch {
			case job == nil || !c.serves(job): // of a deleted job the sweep ends it
				passedOver = true
			case left[job.SlotKind()] == 0: // nor has any run behind it a slot
			default:
				if s := c.choose(entity.NodeClassOf(job), e.Claim.WaitsOn()); s != nil {
					matches[e.ID] = match{s, job}
					left[job.SlotKind()]--
				} else {
					passedOver = true
				}
			}
		}
		if !passedOver || !more || len(matches) == claimAtOnce {
			break
		}
	}
	return matches, nil
}

// heads are the first runs of each queue, as many for each free slot of its kind, in the order in which they are to be
// claimed; more says that a queue has others.
func (c *claiming) heads(ctx context.Context, queues []entity.Queue, free entity.Slots, perSlot int) (
	heads []*entity.Execution, more bool, err error,
) {
	for _, q := range queues {
		limit := free[q.Kind()] * perSlot
		if limit == 0 {
			continue
		}
		lo, hi := q.Range()
		execs, err := c.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: limit})
		if err != nil {
			return nil, false, fmt.Errorf("read the queue %s: %w", q, err)
		}
		heads, more = append(heads, execs...), more || len(execs) == limit
	}
	slices.SortFunc(heads, entity.ByPosition)
	return heads, more, nil
}

// serves reports whether the worker group still runs a job.
func (c *claiming) serves(job *entity.Job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, known := c.groups[c.group]
	return known && g.Runs(job)
}

// choose is the worker with the most free slots that offers what the class asks for; only limits it to one worker.
func (c *claiming) choose(class entity.NodeClass, only string) (best *session) {
	kind := class.Kind()
	for _, s := range c.sessions {
		if only != "" && s.id != only || c.free[s][kind] <= 0 || !s.offers(class) {
			continue
		}
		if best == nil || c.free[s][kind] > c.free[best][kind] {
			best = s
		}
	}
	if best != nil {
		free := c.free[best]
		free[kind]--
		c.free[best] = free
	}
	return best
}

// take runs the claim transaction. When its commit was not answered, known is false: the next read of what the workers
// hold tells (engine rule 9). A run that the store refuses holds up no other (engine rule 10).
func (c *claiming) take(ctx context.Context, queues []entity.Queue, matches map[string]match) (known bool, err error) {
	ids := slices.Sorted(maps.Keys(matches))
	holders := make(map[string]repository.Holder, len(ids))
	for id, m := range matches {
		holders[id] = repository.Holder{NodeID: m.id, Epoch: m.epoch}
	}
	known = true
	err = batch.Walk(c.blame, ids, func(id string) string { return id }, func(part []string) error {
		var got []*entity.Execution
		err := c.Store.Write(ctx, repository.LaneComplete, "claim", func(ctx context.Context, tx repository.Tx) (err error) {
			got, err = tx.Executions.Claim(ctx, repository.ClaimRequest{
				NodeID: c.NodeID, Limit: len(part), Now: c.StoreClock.Now(), Queues: queues, Only: part, Holders: holders,
			})
			return err
		})
		if err != nil {
			known = known && !errors.Is(err, repository.ErrCommitUnknown)
			return err
		}
		c.taken(got, matches)
		return nil
	}, func(id string, cause error) error {
		c.Logger.Error("the store does not let a worker take a run", "execution", id, "error", cause)
		return nil
	})
	return known, err
}

// taken notes runs that were claimed. Nothing can fail between the commit and the note.
func (c *claiming) taken(got []*entity.Execution, matches map[string]match) {
	for _, e := range got {
		m := matches[e.ID]
		m.mu.Lock()
		m.remember(c.Gateway, entity.Run{Job: m.job, Execution: e})
		m.mu.Unlock()
		c.given[m.session] = append(c.given[m.session], delivery.Run{Attempt: attemptOf(e), Kind: m.job.SlotKind()})
	}
}

// end tells the sessions what was claimed for them.
func (c *claiming) end(known bool) {
	for s, seq := range c.seqs {
		s.mu.Lock()
		s.delivery.Claimed(seq, c.given[s], known)
		s.tellReady()
		s.mu.Unlock()
	}
}

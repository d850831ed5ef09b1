package gateway

import (
	"context"
	"errors"
	"fmt"
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
	free     map[*session]delivery.Slots
	seqs     map[*session]int64
	given    map[*session][]delivery.Run
}

// run claims what the sessions have free slots for. A session's claim is noted before the store is asked, so that its
// poll is given no more than it can take, whatever becomes of the answer.
func (c *claiming) run(ctx context.Context) error {
	queues, err := c.queues(ctx, c.group)
	if err != nil || len(queues) == 0 {
		return err
	}
	c.free, c.seqs, c.given = map[*session]delivery.Slots{}, map[*session]int64{}, map[*session][]delivery.Run{}
	total := 0
	for _, s := range c.sessions {
		s.mu.Lock()
		if free := s.delivery.Credits(); free != (delivery.Slots{}) {
			c.free[s], c.seqs[s] = free, s.delivery.Claiming()
			total += free[delivery.General] + free[delivery.Command]
		}
		s.mu.Unlock()
	}
	known := false
	defer func() { c.end(known) }()
	holders, taken, err := c.match(ctx, queues, min(total, claimAtOnce))
	if err != nil || len(holders) == 0 {
		known = true // nothing was asked for
		return err
	}
	known, err = c.take(ctx, queues, holders, taken)
	return err
}

// match chooses a worker for each of the first runs of the queues, by what the runs ask for and the workers have.
func (c *claiming) match(ctx context.Context, queues []entity.Queue, total int) (
	holders map[string]repository.Holder, workers map[string]*session, err error,
) {
	holders, workers = map[string]repository.Holder{}, map[string]*session{}
	var heads []*entity.Execution
	for _, q := range queues {
		lo, hi := q.Range()
		execs, err := c.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: hi, Limit: headsPerSlot * total})
		if err != nil {
			return nil, nil, fmt.Errorf("read the queue %s: %w", q, err)
		}
		heads = append(heads, execs...)
	}
	jobs, err := c.Jobs.Load(ctx, entity.JobIDsOf(heads))
	if err != nil {
		return nil, nil, fmt.Errorf("load the jobs of runs that wait for workers: %w", err)
	}
	slices.SortStableFunc(heads, func(a, b *entity.Execution) int {
		switch x, y := a.Claim.SortKey(), b.Claim.SortKey(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for _, e := range heads {
		job := jobs[e.JobID]
		if job == nil || len(holders) == total || !c.serves(job.Group) {
			continue // of a deleted job the sweep ends it
		}
		if s := c.choose(entity.NodeClassOf(job), e.Claim.WaitsOn()); s != nil {
			holders[e.ID], workers[e.ID] = repository.Holder{NodeID: s.id, Epoch: s.epoch}, s
		}
	}
	return holders, workers, nil
}

// serves reports whether the worker group still runs jobs of a job group.
func (c *claiming) serves(jobGroup string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, known := c.groups[c.group]
	return known && g.Serves(jobGroup)
}

// choose is the worker with the most free slots that offers what the class asks for; only limits it to one worker.
func (c *claiming) choose(class entity.NodeClass, only string) (best *session) {
	kind := delivery.General
	if class.Command {
		kind = delivery.Command
	}
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
func (c *claiming) take(ctx context.Context, queues []entity.Queue, holders map[string]repository.Holder,
	workers map[string]*session,
) (known bool, err error) {
	ids := make([]string, 0, len(holders))
	for id := range holders {
		ids = append(ids, id)
	}
	slices.Sort(ids)
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
		return c.taken(ctx, got, workers)
	}, func(id string, cause error) error {
		c.Logger.Error("the store does not let a worker take a run", "execution", id, "error", cause)
		return nil
	})
	return known, err
}

// taken notes runs that were claimed, with the jobs as they are now.
func (c *claiming) taken(ctx context.Context, got []*entity.Execution, workers map[string]*session) error {
	jobs, err := c.Jobs.Load(ctx, entity.JobIDsOf(got))
	if err != nil {
		return fmt.Errorf("load the jobs of claimed runs: %w", err)
	}
	for _, e := range got {
		s := workers[e.ID]
		run := entity.Run{Job: jobs[e.JobID], Execution: e}
		if run.Job == nil {
			run.Job = &entity.Job{ID: e.JobID}
		}
		s.mu.Lock()
		s.remember(c.Gateway, run)
		s.mu.Unlock()
		c.given[s] = append(c.given[s], delivery.Run{Attempt: attemptOf(e), Kind: kindOf(run)})
	}
	return nil
}

// end tells the sessions what was claimed for them.
func (c *claiming) end(known bool) {
	for s, seq := range c.seqs {
		s.mu.Lock()
		s.delivery.Claimed(seq, c.given[s], known)
		s.tell()
		s.mu.Unlock()
	}
}

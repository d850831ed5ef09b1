package group_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// starts notes in which order the runs of jobs are claimed, over several nodes.
// When their goroutines get to work is for the machine to say, which may be busy.
type starts struct {
	mu sync.Mutex
	// moments counts begins and ends of claims: the order in which the test saw them.
	moments int
	claims  []claim
}

// claim is a transaction that claimed runs of these jobs.
type claim struct {
	// began is before it looked for runs, ended after it had locked them.
	began, ended int
	jobs         []string
}

func (s *starts) moment() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moments++
	return s.moments
}

// claims is the store of a node whose claims are noted once they are committed.
type claims struct {
	repository.Store
	starts *starts
}

func (c claims) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	began := c.starts.moment()
	var w claimWriter
	err := c.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		w = claimWriter{ExecutionWriter: tx.Executions, starts: c.starts}
		tx.Executions = &w
		return fn(ctx, tx)
	})
	if err == nil && len(w.jobs) > 0 {
		c.starts.mu.Lock()
		defer c.starts.mu.Unlock()
		c.starts.claims = append(c.starts.claims, claim{began, w.ended, w.jobs})
	}
	return err
}

// claimWriter notes the jobs of the runs that one transaction claims.
type claimWriter struct {
	repository.ExecutionWriter
	starts *starts
	ended  int
	jobs   []string
}

func (w *claimWriter) Claim(ctx context.Context, r repository.ClaimRequest) ([]*entity.Execution, error) {
	rows, err := w.ExecutionWriter.Claim(ctx, r)
	w.ended = w.starts.moment()
	for _, row := range rows {
		w.jobs = append(w.jobs, row.JobID)
	}
	return rows, err
}

// passedOver is the claim that took other runs although one of a job was free all the while: a claim that began after
// its end took that one.
func (s *starts) passedOver(id string) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, late := range s.claims {
		if !slices.Contains(late.jobs, id) {
			continue
		}
		for _, c := range s.claims {
			other := slices.ContainsFunc(c.jobs, func(job string) bool { return job != id })
			if other && c.ended < late.began {
				return &c
			}
		}
	}
	return nil
}

func (s *starts) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids())
}

// of is how many runs of a job are claimed.
func (s *starts) of(id string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.ids() {
		if other == id {
			n++
		}
	}
	return n
}

// ids are the jobs of all claimed runs, in the order in which they were locked. The caller holds the lock.
func (s *starts) ids() (ids []string) {
	slices.SortFunc(s.claims, func(a, b claim) int { return cmp.Compare(a.ended, b.ended) })
	for _, c := range s.claims {
		ids = append(ids, c.jobs...)
	}
	return ids
}

// span is where the first and last start of a job stand, from 1.
func (s *starts) span(id string) (first, last int) {
	for i, other := range s.ids() {
		if other != id {
			continue
		}
		if first == 0 {
			first = i + 1
		}
		last = i + 1
	}
	return first, last
}

// Engine rule 15, over two nodes: what comes after a flood of one job does not
// wait behind all of it, and what is more urgent waits behind none of it. The
// same holds for what waits for a place in a group.
func TestAFloodOfOneJobDoesNotStarveTheOthers(t *testing.T) {
	for _, limit := range []int{0, 8} {
		t.Run(fmt.Sprintf("group limit %d", limit), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, cfg persistence.Config) { flood(t, cfg, limit) })
		})
	}
}

func flood(t *testing.T, cfg persistence.Config, limit int) {
	const many, few, urgentOnes = 2000, 20, 20
	n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{Slots: 16, BatchSize: 16})
	var desks []*desk
	for _, node := range n.Join(t, enginetest.Options{Slots: 16, BatchSize: 16}) {
		desks = append(desks, &desk{servicetest.On(t, node)})
	}
	d := desks[0]
	d.Grouped(limit)
	a, b := d.In("g", "a", nil), d.In("g", "b", nil)
	urgent := d.In("g", "urgent", func(j *entity.Job) { j.Priority = 6 })
	for _, d := range desks {
		d.Wait(a.ID, many/len(desks))
	}
	d.Clock.Advance(time.Second)
	d.Wait(b.ID, few)
	d.Wait(urgent.ID, urgentOnes)

	var s starts
	for _, d := range desks {
		d.Runner.Store = claims{d.Runner.Store, &s}
		d.Start(t)
	}
	last := 0
	enginetest.Await(t, func() bool {
		_, last = s.spanLocked(b.ID)
		return s.count() >= many/10 && last > 0 && s.of(urgent.ID) == urgentOnes
	}, "the others' runs begin")
	for _, d := range desks {
		d.Runner.Suspend(true)
	}
	firstB, lastB := s.spanLocked(b.ID)
	_, lastUrgent := s.spanLocked(urgent.ID)
	t.Logf("%d waiting runs of A, then %d of B and %d more urgent ones, on two nodes of 16 slots: B's are starts %d to "+
		"%d, the last urgent one is start %d; %d starts",
		many, few, urgentOnes, firstB, lastB, lastUrgent, s.count())
	if limit == 0 {
		require.Nil(t, s.passedOver(urgent.ID), "claims take what is more urgent first")
	} else {
		require.LessOrEqual(t, lastUrgent, urgentOnes+2*16+limit, "before all others, but for what had its place before")
	}
	require.Less(t, lastB, 300, "among the first few hundred")
}

func (s *starts) spanLocked(id string) (first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.span(id)
}

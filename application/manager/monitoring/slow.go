package monitoring

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// longAttempt is how old an attempt is that is compared with the usual.
	longAttempt = 5 * time.Second
	// SlowInterval is the time between two looks.
	SlowInterval = 2 * time.Second
)

// Attempts are those of this node.
type Attempts interface {
	// Long: see running.TaskManager.
	Long(age time.Duration) []running.LongAttempt
}

// SlowDeps are the parts of a Slow.
type SlowDeps struct {
	Attempts Attempts
	Usual    *Usual
	Store    repository.Store
	Clock    clock.StoreClock
	// Readers get the events; Told is called after each commit that added some.
	Readers entity.EventReaders
	Told    func()
}

// Slow tells of attempts of this node that run for longer than usual, while they run. What
// is shorter than 5 s costs nothing. It is one task of a node, and not safe for concurrent
// use.
type Slow struct {
	SlowDeps
	// told are the attempts that it has told of. A node that starts again has none of its
	// former attempts, and the id of an event is computed: nothing is told twice.
	told map[attempt]bool
}

type attempt struct {
	execution string
	n         int
}

// NewSlow wires the parts.
func NewSlow(d SlowDeps) *Slow { return &Slow{SlowDeps: d, told: map[attempt]bool{}} }

// RunOnce looks at the attempts that are older than 5 s, and tells of those that are news.
func (s *Slow) RunOnce(ctx context.Context) error {
	long := s.Attempts.Long(longAttempt)
	if len(long) == 0 && len(s.told) == 0 {
		return nil
	}
	still := make(map[attempt]bool, len(long))
	var jobs []string
	for _, a := range long {
		key := attempt{a.ExecutionID, a.Attempt}
		if still[key] = s.told[key]; !still[key] {
			jobs = append(jobs, a.JobID)
		}
	}
	s.told = still
	if len(jobs) == 0 || s.Readers.Nobody() {
		return nil
	}
	if err := s.Usual.Load(ctx, jobs); err != nil {
		return err
	}
	var events []entity.Event
	var news []attempt
	for _, a := range long {
		key := attempt{a.ExecutionID, a.Attempt}
		if s.told[key] {
			continue
		}
		found, unusual, err := s.Usual.Running(ctx, a.JobID, a.Start, a.Age)
		if err != nil {
			return err
		}
		if !unusual {
			continue
		}
		now := s.Clock.Now()
		payload, err := json.Marshal(UnusualData{
			JobID: a.JobID, ExecutionID: a.ExecutionID, EndTime: now, Finding: found, Sentence: found.Sentence(),
		})
		if err != nil {
			return fmt.Errorf("write what is unusual about the run %s: %w", a.ExecutionID, err)
		}
		events = append(events, entity.Event{
			ID: fmt.Sprintf("slow:%s:%d", a.ExecutionID, a.Attempt), Topic: entity.TopicJobs, Key: a.JobID,
			Type: EventUnusual, Payload: string(payload), CreateTime: now, Readers: s.Readers,
		})
		news = append(news, key)
	}
	if len(events) == 0 {
		return nil
	}
	err := s.Store.Write(ctx, repository.LaneAPI, "slow-runs", func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddEvents(ctx, events)
	})
	if err != nil {
		return fmt.Errorf("tell of %d slow runs: %w", len(events), err)
	}
	for _, key := range news {
		s.told[key] = true
	}
	s.Told()
	return nil
}

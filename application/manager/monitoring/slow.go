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
	Readers     entity.EventReaders
	EventsAdded func()
}

// Slow tells of attempts of this node that run for longer than usual, while they run. A
// run shorter than 5 s costs nothing. It is one task of a node, and not safe for concurrent
// use.
type Slow struct {
	SlowDeps
	// reported are the attempts that this node has reported. A restarted node has none of its former attempts, and event
	// ids are computed, so no report comes twice.
	reported map[attempt]bool
}

type attempt struct {
	execution string
	n         int
}

// NewSlow wires the parts.
func NewSlow(d SlowDeps) *Slow { return &Slow{SlowDeps: d, reported: map[attempt]bool{}} }

// RunOnce looks at the attempts that are older than 5 s, and tells of those that are news.
func (s *Slow) RunOnce(ctx context.Context) error {
	long := s.Attempts.Long(longAttempt)
	if len(long) == 0 && len(s.reported) == 0 {
		return nil
	}
	still := make(map[attempt]bool, len(long))
	var jobs []string
	for _, a := range long {
		key := attempt{a.ExecutionID, a.Attempt}
		if still[key] = s.reported[key]; !still[key] {
			jobs = append(jobs, a.JobID)
		}
	}
	s.reported = still
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
		if s.reported[key] {
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
		s.reported[key] = true
	}
	s.EventsAdded()
	return nil
}

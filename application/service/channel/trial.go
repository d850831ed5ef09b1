package channel

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// trialEvery is the time between two trials of one channel on a node.
	trialEvery = 5 * time.Second
	// maxTried bounds the channels whose trials are remembered.
	maxTried = 1000
)

// Trials sends test messages. Safe for concurrent use.
type Trials struct {
	settings repository.AlertSettings
	notifier *notifying.Notifier
	clock    clock.Clock

	mu    sync.Mutex
	tried map[string]time.Duration
}

// NewTrials wires the parts.
func NewTrials(s repository.AlertSettings, n *notifying.Notifier, c clock.Clock) *Trials {
	return &Trials{settings: s, notifier: n, clock: c, tried: map[string]time.Duration{}}
}

// Trial is what became of a test message.
type Trial struct {
	alert.SendResult
	// Took is how long the attempt lasted.
	Took time.Duration
}

// Try sends a test message, also through a channel that is switched off. Two of one channel
// within 5 s are apperror.KindTooMany.
func (t *Trials) Try(ctx context.Context, id string) (Trial, error) {
	s, err := t.settings.AlertSetting(ctx, alert.KindChannel, id)
	if err != nil {
		return Trial{}, err
	}
	if err := t.admit(id); err != nil {
		return Trial{}, err
	}
	began := t.clock.Monotonic()
	result := t.notifier.Try(ctx, s)
	return Trial{SendResult: result, Took: t.clock.Monotonic() - began}, nil
}

func (t *Trials) admit(id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Monotonic()
	if last, ok := t.tried[id]; ok && now-last < trialEvery {
		f := apperror.New(apperror.KindTooMany, "too_many_trials", "the channel was tried a moment ago; wait and try again")
		f.RetryAfterSec = int((trialEvery - (now - last) + time.Second - 1) / time.Second)
		return f
	}
	if len(t.tried) >= maxTried {
		clear(t.tried)
	}
	t.tried[id] = now
	return nil
}

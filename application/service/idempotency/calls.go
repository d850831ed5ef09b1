// Package idempotency keeps how calls with an idempotency key ended.
package idempotency

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// completeBound and abandonBound are how long a caller waits for the note of
	// its call. A longer call is noted after the answer.
	completeBound = 2 * time.Second
	abandonBound  = 250 * time.Millisecond
	// maxOpenCalls bounds what waits for the store; what is more stays in
	// progress, and ends as an unknown outcome.
	maxOpenCalls = 10_000
	// openCallLife is when a key is forgotten anyway.
	openCallLife = 24 * time.Hour
)

// CallKeeper is a repository.IdempotentCalls that outlasts an outage of the store. It
// keeps the end of a call in memory until the store has taken it, so that its key does
// not stay in progress. Until then this node answers repetitions. Safe for concurrent
// use.
type CallKeeper struct {
	store repository.IdempotentCalls
	clock clock.Clock

	mu   sync.Mutex
	open map[callKey]entity.IdempotentCall
}

type callKey struct{ scope, key string }

// NewCallKeeper stands before a store; RunOnce is to be called at intervals.
func NewCallKeeper(store repository.IdempotentCalls, c clock.Clock) *CallKeeper {
	return &CallKeeper{store: store, clock: c, open: map[callKey]entity.IdempotentCall{}}
}

// Begin implements repository.IdempotentCalls.
func (k *CallKeeper) Begin(ctx context.Context, c entity.IdempotentCall,
	ttl time.Duration,
) (entity.IdempotentCall, bool, error) {
	if former, ok := k.former(c); ok {
		if err := k.flush(ctx, former); err != nil {
			return entity.IdempotentCall{}, false, err
		}
	}
	existing, begun, err := k.store.Begin(ctx, c, ttl)
	if errors.Is(err, repository.ErrCommitUnknown) {
		// The call will not happen, whatever became of its note: the caller may
		// repeat it.
		k.keep(c)
		err = apperror.Unavailable(errors.New(err.Error()))
	}
	return existing, begun, err
}

// Complete implements repository.IdempotentCalls.
func (k *CallKeeper) Complete(ctx context.Context, c entity.IdempotentCall) error {
	return k.note(ctx, completeBound, c)
}

// Abandon implements repository.IdempotentCalls.
func (k *CallKeeper) Abandon(ctx context.Context, c entity.IdempotentCall) error {
	c.Status = 0
	return k.note(ctx, abandonBound, c)
}

// note stores how a call ended, now or later.
func (k *CallKeeper) note(ctx context.Context, bound time.Duration, c entity.IdempotentCall) error {
	k.keep(c)
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if err := k.flush(ctx, c); err != nil && !later(err) {
		return err
	}
	return nil
}

// later reports errors of a store that may take it yet.
func later(err error) bool {
	return apperror.Is(err, apperror.KindUnavailable) || errors.Is(err, repository.ErrCommitUnknown) ||
		errors.As(err, new(*repository.UnknownError)) || errors.Is(err, context.DeadlineExceeded)
}

// RunOnce stores what the store has not taken yet.
func (k *CallKeeper) RunOnce(ctx context.Context) error {
	for _, c := range k.all() {
		if k.clock.Now().Sub(c.CreateTime) > openCallLife {
			k.forget(c)
			continue
		}
		if err := k.flush(ctx, c); later(err) {
			return fmt.Errorf("note how calls with a key ended: %w", err)
		}
	}
	return nil
}

// flush stores the end of a call. To do it twice does no harm.
func (k *CallKeeper) flush(ctx context.Context, c entity.IdempotentCall) error {
	var err error
	if c.Status == 0 {
		err = k.store.Abandon(ctx, c)
	} else {
		err = k.store.Complete(ctx, c)
	}
	if !later(err) {
		k.forget(c)
	}
	return err
}

func (k *CallKeeper) keep(c entity.IdempotentCall) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.open) < maxOpenCalls {
		k.open[callKey{c.Scope, c.Key}] = c
	}
}

func (k *CallKeeper) forget(c entity.IdempotentCall) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := callKey{c.Scope, c.Key}
	if k.open[at].CreateTime.Equal(c.CreateTime) {
		delete(k.open, at)
	}
}

func (k *CallKeeper) former(c entity.IdempotentCall) (entity.IdempotentCall, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	former, ok := k.open[callKey{c.Scope, c.Key}]
	return former, ok
}

func (k *CallKeeper) all() []entity.IdempotentCall {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]entity.IdempotentCall, 0, len(k.open))
	for _, c := range k.open {
		out = append(out, c)
	}
	return out
}

package idempotency_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/idempotency"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// flaky is a store that fails after or instead of what it is asked.
type flaky struct {
	repository.IdempotentCalls
	away, unknown bool
	// odd is an answer that nobody knows, in the stead of an outage.
	odd bool
}

func (f *flaky) end(err error) error {
	switch {
	case f.unknown:
		return fmt.Errorf("commit: %w", repository.ErrCommitUnknown)
	case f.away && f.odd:
		return &repository.UnknownError{Err: context.DeadlineExceeded}
	case f.away:
		return apperror.Unavailable(context.DeadlineExceeded)
	}
	return err
}

func (f *flaky) Begin(ctx context.Context, c entity.IdempotentCall,
	ttl time.Duration,
) (old entity.IdempotentCall, ok bool, err error) {
	if !f.away {
		old, ok, err = f.IdempotentCalls.Begin(ctx, c, ttl)
	}
	return old, ok && !f.unknown, f.end(err)
}

func (f *flaky) Complete(ctx context.Context, c entity.IdempotentCall) error {
	if f.away {
		return f.end(nil)
	}
	return f.end(f.IdempotentCalls.Complete(ctx, c))
}

func (f *flaky) Abandon(ctx context.Context, c entity.IdempotentCall) error {
	if f.away {
		return f.end(nil)
	}
	return f.end(f.IdempotentCalls.Abandon(ctx, c))
}

func TestHowACallEndedOutlastsAnOutage(t *testing.T) {
	store := &flaky{IdempotentCalls: dbtest.Open(t, dbtest.SQLite(t))}
	clock := clocktest.NewManual(enginetest.Noon)
	here, elsewhere := idempotency.NewCallKeeper(store, clock), idempotency.NewCallKeeper(store.IdempotentCalls, clock)
	call := func(key string) entity.IdempotentCall {
		clock.Advance(time.Second)
		return entity.IdempotentCall{Scope: "user POST /x", Key: key, BodyHash: "h", CreateTime: clock.Now()}
	}
	begin := func(k *idempotency.CallKeeper, c entity.IdempotentCall) (entity.IdempotentCall, bool) {
		old, ok, err := k.Begin(t.Context(), c, time.Hour)
		require.NoError(t, err)
		return old, ok
	}
	done, failed := call("done"), call("failed")
	for _, c := range []entity.IdempotentCall{done, failed} {
		_, ok := begin(here, c)
		require.True(t, ok)
	}
	done.Status, done.Body = 202, `{"a":1}`
	store.away = true
	require.NoError(t, here.Complete(t.Context(), done))
	require.NoError(t, here.Abandon(t.Context(), failed))
	require.True(t, apperror.Is(here.RunOnce(t.Context()), apperror.KindUnavailable))
	_, _, err := here.Begin(t.Context(), call("failed"), time.Hour)
	require.True(t, apperror.Is(err, apperror.KindUnavailable), "not: in progress")
	store.away = false

	old, ok := begin(here, call("done"))
	require.Equal(t, []any{false, 202, done.Body}, []any{ok, old.Status, old.Body},
		"a repetition does not wait for the task")
	old, ok = begin(elsewhere, call("failed"))
	require.Equal(t, []any{false, 0}, []any{ok, old.Status})
	require.NoError(t, here.RunOnce(t.Context()))
	again := call("failed")
	_, ok = begin(elsewhere, again)
	require.True(t, ok, "what certainly did not happen may be repeated anywhere")
	require.NoError(t, here.RunOnce(t.Context()), "nothing is left")

	store.unknown = true
	unknown := call("unknown")
	_, _, err = here.Begin(t.Context(), unknown, time.Hour)
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	require.NotErrorIs(t, err, repository.ErrCommitUnknown, "the call itself did not happen")
	store.unknown = false
	_, ok = begin(here, call("unknown"))
	require.True(t, ok)
}

// An answer of the store that nobody knows is an outage, too: how a call ended is noted later.
func TestHowACallEndedOutlastsAnAnswerThatIsNotKnown(t *testing.T) {
	store := &flaky{IdempotentCalls: dbtest.Open(t, dbtest.SQLite(t)), odd: true}
	clock := clocktest.NewManual(enginetest.Noon)
	here := idempotency.NewCallKeeper(store, clock)
	call := entity.IdempotentCall{Scope: "user POST /x", Key: "k", BodyHash: "h", CreateTime: clock.Now()}
	_, ok, err := here.Begin(t.Context(), call, time.Hour)
	require.NoError(t, err)
	require.True(t, ok)
	call.Status, call.Body = 202, `{"a":1}`
	store.away = true
	require.NoError(t, here.Complete(t.Context(), call))
	require.Error(t, here.RunOnce(t.Context()))
	store.away = false
	require.NoError(t, here.RunOnce(t.Context()))
	clock.Advance(time.Second)
	old, ok, err := idempotency.NewCallKeeper(store.IdempotentCalls, clock).Begin(t.Context(), entity.IdempotentCall{
		Scope: call.Scope, Key: call.Key, BodyHash: call.BodyHash, CreateTime: clock.Now(),
	}, time.Hour)
	require.NoError(t, err)
	require.Equal(t, []any{false, 202, call.Body}, []any{ok, old.Status, old.Body})
}

func TestALateWordOfAFormerCallDoesNotTouchTheNext(t *testing.T) {
	store := &flaky{IdempotentCalls: dbtest.Open(t, dbtest.SQLite(t))}
	clock := clocktest.NewManual(enginetest.Noon)
	here := idempotency.NewCallKeeper(store, clock)
	first := entity.IdempotentCall{Scope: "s", Key: "k", BodyHash: "h", CreateTime: clock.Now()}
	store.away = true
	require.NoError(t, here.Abandon(t.Context(), first), "its begin was lost")
	store.away = false
	second := first
	second.CreateTime = first.CreateTime.Add(time.Second)
	_, ok, err := store.Begin(t.Context(), second, time.Hour) // on another node
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, here.RunOnce(t.Context()))
	third := second
	third.CreateTime = second.CreateTime.Add(time.Second)
	_, ok, err = store.Begin(t.Context(), third, time.Hour)
	require.NoError(t, err)
	require.False(t, ok, "the second is still in progress")
}

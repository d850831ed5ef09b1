// Package detached keeps runs that go on without a node: asynchronous calls
// that their targets accepted. Any node issues the tokens with which targets
// report, takes their reports, and ends what nobody reports about in time
// (engine rule 19, see docs/rules.md). All of it stands in the store.
package detached

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	halving "github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Issuer gives attempts the tokens with which their targets report. It
// implements entity.RunTokens. Safe for concurrent use.
type Issuer struct {
	store  repository.Store
	sealer Sealer
	clock  clock.Clock
	time   clock.StoreClock

	// turn is held while a batch is stored.
	turn sync.Mutex
	mu   sync.Mutex
	open *issues
}

// NewIssuer returns an Issuer that waits by clock, and dates by time. With sealer
// it keeps the secrets that attempts have opened.
func NewIssuer(store repository.Store, sealer Sealer, c clock.Clock, time clock.StoreClock) *Issuer {
	return &Issuer{store: store, sealer: sealer, clock: c, time: time}
}

// issues are tokens that are stored in one transaction.
type issues struct {
	runs   []*entity.Execution
	tokens []entity.RunToken
	// done is closed when the others are set.
	done    chan struct{}
	refused []int
	err     error
}

// tryFor bounds one try to reach the store; the others are bounds of the wait
// between two tries.
const (
	tryFor    = 10 * time.Second
	firstWait = 50 * time.Millisecond
	maxWait   = 2 * time.Second
	// unknownFor is how long an unknown answer of the store may come again before the attempt fails by it: as long as one
	// row alone waits elsewhere (engine rule 10).
	unknownFor = 30 * time.Second
)

// Issue implements entity.RunTokens. Calls at the same moment share a
// transaction: 500 calls that are due together cost a few.
func (i *Issuer) Issue(ctx context.Context, run entity.Run) (string, error) {
	token, kept, err := entity.NewRunToken(run.Execution, slices.Sorted(maps.Keys(run.Secrets)), i.time.Now())
	if err == nil {
		err = seal(i.sealer, &kept, run.Secrets)
	}
	if err != nil {
		return "", err
	}
	began := i.clock.Monotonic()
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		err := i.share(ctx, run.Execution, kept)
		if err != nil && ctx.Err() != nil {
			return "", fmt.Errorf("the store has not taken it: %w: %w", err, ctx.Err())
		}
		if err == nil || !passes(err, i.clock.Monotonic()-began) {
			return token, err
		}
		if over := clock.Sleep(ctx, i.clock, wait); over != nil {
			return "", fmt.Errorf("the store does not take it: %w: %w", err, over)
		}
	}
}

// passes reports whether waiting mends an error: the attempt has done nothing yet, and the target has not heard of it.
func passes(err error, waited time.Duration) bool {
	if errors.As(err, new(*repository.UnknownError)) {
		return waited < unknownFor
	}
	return apperror.Is(err, apperror.KindUnavailable) || errors.Is(err, repository.ErrCommitUnknown)
}

// share adds a token to the batch that is stored next, and waits for it as long as its
// attempt may: a store that is silent must not hold up an attempt that is told to stop,
// or the node seems to be stuck (engine rule 27). While one batch is being stored, the
// next one fills.
func (i *Issuer) share(ctx context.Context, x *entity.Execution, kept entity.RunToken) error {
	own := *x // the attempt may end first
	i.mu.Lock()
	batch := i.open
	mine := batch == nil
	if mine {
		batch = &issues{done: make(chan struct{})}
		i.open = batch
	}
	index := len(batch.runs)
	batch.runs, batch.tokens = append(batch.runs, &own), append(batch.tokens, kept)
	i.mu.Unlock()
	if mine {
		go i.write(ctx, batch)
	}
	select {
	case <-batch.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case batch.err != nil:
		return batch.err
	case slices.Contains(batch.refused, index):
		return entity.ErrStopLost
	}
	return nil
}

func (i *Issuer) write(ctx context.Context, batch *issues) {
	i.turn.Lock()
	defer i.turn.Unlock()
	i.mu.Lock()
	i.open = nil
	i.mu.Unlock()
	defer close(batch.done)
	// The end of one attempt must not take the others along.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryFor)
	defer cancel()
	batch.err = halving.Guard(func() error {
		return i.store.Write(ctx, repository.LaneComplete, "issue-tokens",
			func(ctx context.Context, tx repository.Tx) (err error) {
				batch.refused, err = tx.RunTokens.Issue(ctx, batch.runs, batch.tokens)
				return err
			})
	})
	if batch.err != nil && ctx.Err() != nil {
		batch.err = apperror.Unavailable(batch.err)
	}
}

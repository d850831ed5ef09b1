package worker

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

const (
	// lookLife is how long a look at a token holds. So long a token that was revoked works at most.
	lookLife = 5 * time.Second
	// awayLife is how long a token goes on that was good when the store was last there: nobody can have revoked it where
	// the store is away for all, and a gateway that is cut off alone refuses by itself.
	awayLife = 10 * time.Minute
	// lookWait is how long a call waits for a look at its token; lookTimeout is when the look is given up.
	lookWait    = time.Second
	lookTimeout = 10 * time.Second
	// strangersAtOnce bounds the looks at tokens that were not good before. maxEntries bounds what is remembered of all.
	strangersAtOnce = 16
	maxEntries      = 10_000
	// useEvery is how exact the last use of a token is.
	useEvery = time.Minute
)

// TokenReader finds tokens.
type TokenReader interface {
	// WorkerTokenByHash is a token that has not expired; apperror.KindNotFound else.
	WorkerTokenByHash(ctx context.Context, hash string, now time.Time) (worker.Token, error)
	// UseWorkerToken notes when a token was used.
	UseWorkerToken(ctx context.Context, id string, at time.Time) error
}

// Authenticator finds out of which group a worker is. It asks the store once in five seconds for each token, however
// many workers call with it. Safe for concurrent use.
type Authenticator struct {
	tokens TokenReader
	clock  clock.Clock

	mu      sync.Mutex
	entries map[string]*entry
	// strangers counts the looks under way at tokens that were not good before.
	strangers int
}

// entry is what is known of a token, by its hash. Authenticator guards it.
type entry struct {
	// token is what a look found; good is false where it found none, or there was no look.
	token worker.Token
	good  bool
	// at is when the look began, in monotonic time; known is false before the first one has ended.
	at    time.Duration
	known bool
	// now is the look under way; nil for none.
	now *look
}

// look is one look at a token; done is closed at its end.
type look struct {
	done  chan struct{}
	began time.Duration
	// void: a token was revoked meanwhile, so that its answer does not hold.
	void bool
	err  error
}

// NewAuthenticator reads tokens from a store, whose clock says which have expired.
func NewAuthenticator(tokens TokenReader, c clock.Clock) *Authenticator {
	return &Authenticator{tokens: tokens, clock: c, entries: map[string]*entry{}}
}

// errUnknownToken is for tokens that nobody has given out, or that ended.
func errUnknownToken() error {
	return apperror.New(apperror.KindUnauthenticated, "unknown_token", "the token is of no worker group, is revoked or "+
		"has expired: give the worker a token that platform-scheduler worker token create has made")
}

// Authenticate returns the token behind a text, or apperror.KindUnauthenticated. A store that does not answer keeps out
// those alone whom it has not let in before.
func (a *Authenticator) Authenticate(ctx context.Context, text string) (worker.Token, error) {
	digits, is := strings.CutPrefix(text, worker.TokenPrefix)
	if _, err := hex.DecodeString(digits); !is || err != nil || len(digits) != 2*secretBytes {
		return worker.Token{}, errUnknownToken() // nobody has given it out
	}
	hash := hashOf(text)
	a.mu.Lock()
	v, err := a.entryOf(hash)
	if err != nil || a.holds(v, lookLife) {
		defer a.mu.Unlock()
		return a.tokenOf(v, err)
	}
	if v.now == nil {
		v.now = &look{done: make(chan struct{}), began: a.clock.Monotonic()}
		if !v.good {
			a.strangers++
		}
		go a.look(context.WithoutCancel(ctx), hash, v, v.now, v.good)
	}
	l := v.now
	a.mu.Unlock()
	if err := a.await(ctx, l); err != nil {
		return worker.Token{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if v.known && (v.at >= l.began || v.good && a.holds(v, awayLife)) {
		return a.tokenOf(v, nil)
	}
	err = l.err
	if err == nil { // it goes on
		err = apperror.Unavailable(fmt.Errorf("the look at a token takes longer than %s", lookWait))
	}
	return worker.Token{}, err
}

// await waits for the end of a look, but not for long.
func (a *Authenticator) await(ctx context.Context, l *look) error {
	timer := a.clock.NewTimer(max(lookWait-(a.clock.Monotonic()-l.began), 0))
	defer timer.Stop()
	select {
	case <-l.done:
	case <-timer.C():
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// holds reports whether a look is younger than that. a.mu is held, as in what follows.
func (a *Authenticator) holds(v *entry, life time.Duration) bool {
	return v.known && a.clock.Monotonic()-v.at < life
}

func (a *Authenticator) tokenOf(v *entry, err error) (worker.Token, error) {
	switch {
	case err != nil:
		return worker.Token{}, err
	case !v.good || !a.clock.Now().Before(v.token.ExpiresAt):
		return worker.Token{}, errUnknownToken()
	}
	return v.token, nil
}

// entryOf is what is known of a token. A new one must find a place, and a look that is free.
func (a *Authenticator) entryOf(hash string) (*entry, error) {
	v := a.entries[hash]
	stranger := v == nil || !v.good && v.now == nil && !a.holds(v, lookLife)
	if stranger && (a.strangers >= strangersAtOnce || v == nil && !a.makeRoom()) {
		return nil, &apperror.Error{
			Kind: apperror.KindTooMany, Code: "too_many_unknown_tokens", RetryAfterSec: 1,
			Message: "this node is asked for too many unknown tokens at once; wait and try again",
		}
	}
	if v == nil {
		v = &entry{}
		a.entries[hash] = v
	}
	return v, nil
}

// makeRoom drops what holds no more, and all tokens that were not good: they come again one by one, so that the next
// strangers do not each cost a pass over all.
func (a *Authenticator) makeRoom() bool {
	if len(a.entries) < maxEntries {
		return true
	}
	for hash, v := range a.entries {
		if v.now == nil && (!v.good || !a.holds(v, awayLife)) {
			delete(a.entries, hash)
		}
	}
	return len(a.entries) < maxEntries
}

// look asks the store for a token.
func (a *Authenticator) look(ctx context.Context, hash string, v *entry, l *look, known bool) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	now := a.clock.Now()
	token, err := a.tokens.WorkerTokenByHash(ctx, hash, now)
	if err == nil && now.Sub(token.LastUsedAt) >= useEvery {
		// For people to see which tokens nobody uses: no reason to refuse a call.
		_ = a.tokens.UseWorkerToken(ctx, token.ID, now)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case l.void:
		l.err = apperror.Unavailable(errors.New("a token was revoked during the look"))
	case err == nil, apperror.Is(err, apperror.KindNotFound):
		v.token, v.good, v.known, v.at = token, err == nil, true, l.began
	default:
		l.err = fmt.Errorf("look up the token of a worker: %w", err)
	}
	if !known {
		a.strangers--
	}
	v.now = nil
	close(l.done)
}

// Forget makes the tokens of a group be looked up again: one was revoked.
func (a *Authenticator) Forget(group string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range a.entries {
		if v.now != nil {
			v.now.void = true
		}
		if v.good && v.token.Group == group {
			v.known = false
		}
	}
}

package middleware

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// knownFor is how long the answer on a token with an open stream holds.
const knownFor = 10 * time.Second

// Sessions keeps the user of a token while a stream of that token is open. So the server looks up a page that watches,
// and reads changes again, once in ten seconds and not at each call. Sessions lets in only reads. Safe for concurrent
// use.
type Sessions struct {
	clock clock.Clock

	mu   sync.Mutex
	held map[string]*watched
	// changes counts the calls of forget: what was looked up before it is not kept.
	changes int
	// now is the look-up in progress; nil for none.
	now *lookup
}

// watched is a token with an open stream; Sessions guards it.
type watched struct {
	streams int
	who     entity.Principal
	at      time.Duration
	// changes is that of the Sessions when the token was looked up; -1: it was not.
	changes int
}

// lookup is one look-up of many tokens; done is closed at its end.
type lookup struct {
	done chan struct{}
	err  error
}

// NewSessions keeps nothing yet.
func NewSessions(c clock.Clock) *Sessions { return &Sessions{clock: c, held: map[string]*watched{}} }

// Hold keeps verdicts on a token until it is left.
func (s *Sessions) Hold(token string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.held[token]
	if v == nil {
		v = &watched{changes: -1}
		s.held[token] = v
	}
	v.streams++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if v.streams--; v.streams == 0 {
			delete(s.held, token)
		}
	}
}

// forget makes every token be looked up again.
func (s *Sessions) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
}

// authenticate asks the authenticator, unless it has answered a moment ago. The first call that has to ask also asks
// for all other tokens whose answer is half as old as it may be: so a thousand browsers cost one look-up.
func (s *Sessions) authenticate(ctx context.Context, auth Authenticator, token string) (entity.Principal, error) {
	for waits := 0; ; waits++ {
		s.mu.Lock()
		v := s.held[token]
		if v != nil && s.holds(v, knownFor) {
			who := v.who
			s.mu.Unlock()
			return who, nil
		}
		if v == nil || waits > 1 { // nobody's, or not to be found out with others; the first wait may have begun too late
			s.mu.Unlock()
			return s.authenticateOne(ctx, auth, token)
		}
		j := s.now
		if j == nil {
			j = &lookup{done: make(chan struct{})}
			s.now = j
			go s.authenticateAll(context.WithoutCancel(ctx), auth, j)
		}
		s.mu.Unlock()
		select {
		case <-j.done:
		case <-ctx.Done():
			return entity.Principal{}, ctx.Err()
		}
		if j.err != nil {
			return entity.Principal{}, j.err
		}
	}
}

// holds reports whether an answer is younger than that.
func (s *Sessions) holds(v *watched, life time.Duration) bool {
	return v.changes == s.changes && s.clock.Monotonic()-v.at < life
}

// authenticateOne looks one token up, and keeps the answer if the token is held.
func (s *Sessions) authenticateOne(ctx context.Context, auth Authenticator, token string) (entity.Principal, error) {
	s.mu.Lock()
	changes, now := s.changes, s.clock.Monotonic()
	s.mu.Unlock()
	who, err := auth.Authenticate(ctx, token)
	if err == nil {
		s.keep(map[string]entity.Principal{token: who}, now, changes)
	}
	return who, err
}

// lookupTimeout is how long a look-up of many tokens may take.
const lookupTimeout = 10 * time.Second

// authenticateAll looks up the tokens that will have to be looked up soon.
func (s *Sessions) authenticateAll(ctx context.Context, auth Authenticator, j *lookup) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	s.mu.Lock()
	changes, now := s.changes, s.clock.Monotonic()
	var tokens []string
	for token, v := range s.held {
		if !s.holds(v, knownFor/2) {
			tokens = append(tokens, token)
		}
	}
	s.mu.Unlock()
	found, err := auth.AuthenticateAll(ctx, tokens)
	if j.err = err; err == nil {
		s.keep(found, now, changes)
	}
	s.mu.Lock()
	s.now = nil
	s.mu.Unlock()
	close(j.done)
}

// keep keeps the answers on tokens that are held, unless something has changed since.
func (s *Sessions) keep(found map[string]entity.Principal, at time.Duration, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, who := range found {
		if v := s.held[token]; v != nil && at >= v.at {
			v.who, v.at, v.changes = who, at, changes
		}
	}
}

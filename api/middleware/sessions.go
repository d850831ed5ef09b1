package middleware

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// verdictLife is how long a verdict on a token with an open stream holds.
const verdictLife = 10 * time.Second

// Sessions keeps who came with a token, for as long as a stream of that token is open. So
// a page that watches, and reads again whatever changes, is judged once in ten seconds and
// not at each call. Only reads are let in so. Safe for concurrent use.
type Sessions struct {
	clock clock.Clock

	mu   sync.Mutex
	held map[string]*verdict
	// changes counts the calls of forget: what was looked up before it is not kept.
	changes int
	// now is the look-up in progress; nil for none.
	now *judging
}

// verdict is on one token; Sessions guards it.
type verdict struct {
	streams int
	who     entity.Principal
	at      time.Duration
	// changes is that of the Sessions when the token was looked up; -1: it was not.
	changes int
}

// judging is one look-up of many tokens; done is closed at its end.
type judging struct {
	done chan struct{}
	err  error
}

// NewSessions keeps nothing yet.
func NewSessions(c clock.Clock) *Sessions { return &Sessions{clock: c, held: map[string]*verdict{}} }

// Hold keeps verdicts on a token until it is left.
func (s *Sessions) Hold(token string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.held[token]
	if v == nil {
		v = &verdict{changes: -1}
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

// authenticate asks the authenticator, unless it has answered a moment ago. The first one
// who has to ask also asks for all other tokens whose verdict is half as old as it may be:
// so a thousand browsers are judged in one look-up.
func (s *Sessions) authenticate(ctx context.Context, auth Authenticator, token string) (entity.Principal, error) {
	for waits := 0; ; waits++ {
		s.mu.Lock()
		v := s.held[token]
		if v != nil && s.holds(v, verdictLife) {
			who := v.who
			s.mu.Unlock()
			return who, nil
		}
		if v == nil || waits > 1 { // nobody's, or not to be found out with others; the first wait may have begun too late
			s.mu.Unlock()
			return s.judge(ctx, auth, token)
		}
		j := s.now
		if j == nil {
			j = &judging{done: make(chan struct{})}
			s.now = j
			go s.judgeAll(context.WithoutCancel(ctx), auth, j)
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

// holds reports whether a verdict is younger than that.
func (s *Sessions) holds(v *verdict, life time.Duration) bool {
	return v.changes == s.changes && s.clock.Monotonic()-v.at < life
}

// judge looks one token up, and keeps the verdict if the token is held.
func (s *Sessions) judge(ctx context.Context, auth Authenticator, token string) (entity.Principal, error) {
	s.mu.Lock()
	changes, now := s.changes, s.clock.Monotonic()
	s.mu.Unlock()
	who, err := auth.Authenticate(ctx, token)
	if err == nil {
		s.keep(map[string]entity.Principal{token: who}, now, changes)
	}
	return who, err
}

// judgeBound is how long a look-up of many tokens may take.
const judgeBound = 10 * time.Second

// judgeAll looks up the tokens that will have to be looked up soon.
func (s *Sessions) judgeAll(ctx context.Context, auth Authenticator, j *judging) {
	ctx, cancel := context.WithTimeout(ctx, judgeBound)
	defer cancel()
	s.mu.Lock()
	changes, now := s.changes, s.clock.Monotonic()
	var tokens []string
	for token, v := range s.held {
		if !s.holds(v, verdictLife/2) {
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

// keep keeps verdicts on tokens that are held, unless something has changed since.
func (s *Sessions) keep(found map[string]entity.Principal, at time.Duration, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, who := range found {
		if v := s.held[token]; v != nil && at >= v.at {
			v.who, v.at, v.changes = who, at, changes
		}
	}
}

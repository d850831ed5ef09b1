package redisconn

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

const (
	// callBound bounds one call, including the connection that it needs.
	callBound = time.Second
	// rest is how long no call is made after Redis did not answer: an outage must not cost each
	// call a time-out.
	rest = 2 * time.Second
	// fair is the time in which a working Redis has answered. When a caller's own time ends
	// sooner, it was spent elsewhere.
	fair = 200 * time.Millisecond
)

// ErrResting is the error of calls that are not made, because Redis did not answer a moment
// ago.
var ErrResting = errors.New("no call was made, as Redis did not answer a moment ago")

// Guard bounds the calls of a client, and learns from them whether Redis serves. It makes no
// calls of its own. Safe for concurrent use.
type Guard struct {
	cfg    config.Redis
	clock  clock.Clock
	logger *slog.Logger

	mu sync.Mutex
	// reason is why Redis has not served since then; it is empty while Redis serves.
	reason string
	since  time.Time
	// restUntil is when the next call may be made, in monotonic time.
	restUntil time.Duration
}

// Watch puts a guard before a client that is not in use yet.
func Watch(client redis.UniversalClient, cfg config.Redis, c clock.Clock, log *slog.Logger) *Guard {
	g := &Guard{cfg: cfg, clock: c, logger: log}
	client.AddHook(g)
	return g
}

// Away returns why Redis does not serve and since when. An empty reason means that Redis
// serves, as far as is known. It holds no secrets.
func (g *Guard) Away() (reason string, since time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason, g.since
}

// DialHook implements redis.Hook.
func (g *Guard) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements redis.Hook.
func (g *Guard) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if greeting(cmd) {
			return next(ctx, cmd)
		}
		err := g.call(ctx, func(ctx context.Context) error { return next(ctx, cmd) })
		if errors.Is(err, ErrResting) {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (g *Guard) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, greeting) {
			return next(ctx, cmds)
		}
		err := g.call(ctx, func(ctx context.Context) error { return next(ctx, cmds) })
		if errors.Is(err, ErrResting) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		}
		return err
	}
}

// greeting reports the commands that begin or check a connection. They belong to a bounded
// call, or to a start.
func greeting(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "hello", "auth", "select", "client", "readonly", "ping", "info", "cluster":
		return true
	}
	return false
}

func (g *Guard) call(ctx context.Context, do func(ctx context.Context) error) error {
	if g.resting() {
		return ErrResting
	}
	bounded, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	began := g.clock.Monotonic()
	err := do(bounded)
	if ctx.Err() != nil && g.clock.Monotonic()-began < fair {
		return err // the caller's time was over, which says nothing of Redis
	}
	g.Note(err)
	return err
}

func (g *Guard) resting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason != "" && g.clock.Monotonic() < g.restUntil
}

// Note records the result of a call.
func (g *Guard) Note(err error) {
	var answer redis.Error
	answered := errors.As(err, &answer)
	if errors.Is(err, context.Canceled) {
		return // the caller has given up, which says nothing of Redis
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil || answered && !refusal(err) {
		if g.reason != "" {
			g.logger.Info("Redis serves again")
		}
		g.reason, g.restUntil = "", 0
		return
	}
	reason := remedy(g.cfg, err)
	if g.reason == "" {
		g.since = g.clock.Now()
	}
	if g.reason != reason {
		g.logger.Warn("Redis does not serve; the nodes find each other's news by themselves, later", "reason", reason)
	}
	g.reason = reason
	if !answered {
		g.restUntil = g.clock.Monotonic() + rest
	}
}

// refusal reports errors of a Redis that does not serve this client.
func refusal(err error) bool {
	var own *Error
	if errors.As(err, &own) { // of Ping
		return true
	}
	for _, prefix := range []string{
		"NOAUTH", "WRONGPASS", "NOPERM", "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "CROSSSLOT", "MISCONF",
		"OOM", "DENIED",
	} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

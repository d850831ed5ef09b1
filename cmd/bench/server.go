package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// benchPassword is the admin's in a scratch store, which is gone afterwards.
const benchPassword = "scratch store of a bench"

// open makes an engine on a fresh scratch store.
func (b *bench) open(ctx context.Context, watch *observer) (*app.Engine, config.Config, error) {
	cfg, err := b.scratch.next(ctx)
	if err != nil {
		return nil, cfg, err
	}
	e, err := app.NewEngine(ctx, cfg, b.options(watch))
	if err != nil {
		return nil, cfg, err
	}
	watch.now = e.Clock.Now
	return e, cfg, nil
}

// serve opens a whole server on a fresh scratch store and a free port of this
// machine. Nothing is answered before Start.
func (b *bench) serve(ctx context.Context, watch *observer) (*app.Server, config.Config, error) {
	cfg, err := b.scratch.next(ctx)
	if err != nil {
		return nil, cfg, err
	}
	cfg.Server.Addr = freePort
	cfg.Auth.InitialAdminPassword = benchPassword
	s, err := app.NewServer(ctx, cfg, b.options(watch))
	if err != nil {
		return nil, cfg, err
	}
	watch.now = s.Clock.Now
	return s, cfg, nil
}

// freePort lets the system choose.
const freePort = "127.0.0.1:0"

func (b *bench) options(watch *observer) app.Options {
	return app.Options{
		Clock: b.clock, Executor: watch, Observer: watch.stored,
		Logger: slog.New(slog.NewTextHandler(b.Progress, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// signIn gives a client of a started server that keeps up to conns
// connections.
func signIn(ctx context.Context, url string, conns int) (*client.Client, error) {
	c := &client.Client{Server: url, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conns, MaxConnsPerHost: conns}}}
	var answer struct {
		Token string `json:"token"`
	}
	err := c.Call(ctx, http.MethodPost, "/auth/login", nil, map[string]string{"username": "admin", "password": benchPassword}, &answer)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	c.Token = answer.Token
	return c, nil
}

package rig

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Password is the admin's in a scratch store, which is gone afterwards.
const Password = "scratch store of a bench"

// OpenEngine makes an engine on a fresh scratch store.
func (b *Bench) OpenEngine(ctx context.Context, observer *node.Observer) (*app.Engine, config.Config, error) {
	cfg, err := b.Scratch.Next(ctx)
	if err != nil {
		return nil, cfg, err
	}
	e, err := app.NewEngine(ctx, cfg, b.options(observer))
	if err != nil {
		return nil, cfg, err
	}
	observer.Now = e.Clock.Now
	return e, cfg, nil
}

// OpenServer opens a whole server on a fresh scratch store and a free port of this
// machine. Nothing is answered before Start.
func (b *Bench) OpenServer(ctx context.Context, observer *node.Observer) (*server.Server, config.Config, error) {
	cfg, err := b.Scratch.Next(ctx)
	if err != nil {
		return nil, cfg, err
	}
	cfg.Server.Addr = FreePort
	cfg.Auth.InitialAdminPassword = Password
	s, err := server.New(ctx, cfg, b.options(observer))
	if err != nil {
		return nil, cfg, err
	}
	observer.Now = s.Clock.Now
	return s, cfg, nil
}

// FreePort lets the system choose.
const FreePort = "127.0.0.1:0"

func (b *Bench) options(observer *node.Observer) app.Options {
	return app.Options{
		Clock: b.Clock, Executor: observer, Observer: observer.Stored,
		Logger: slog.New(slog.NewTextHandler(b.Progress, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// SignIn returns a client of a started server that keeps up to conns
// connections.
func SignIn(ctx context.Context, url string, conns int) (*client.Client, error) {
	c := &client.Client{
		Server: url,
		HTTP:   &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conns, MaxConnsPerHost: conns}},
	}
	var answer struct {
		Token string `json:"token"`
	}
	err := c.Call(ctx, http.MethodPost, "/auth/login", nil, map[string]string{"username": "admin", "password": Password},
		&answer)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	c.Token = answer.Token
	return c, nil
}

package rig

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

// WorkerGroup is the worker group of a bench.
const WorkerGroup = "bench"

// mostSlots is the most that a worker may have (docs/workers/protocol.md).
const mostSlots = 1000

// MostWorkers is the most that a worker group may have.
const MostWorkers = 10_000

// ToWorkers has a job run by workers.
func ToWorkers(j *entity.Job) { j.Routing.Workers = WorkerGroup }

// hire starts a worker, whose handler tells the observer of each entry. dismiss ends it and waits for its end.
func (a *InProcess) hire(ctx context.Context) (dismiss func() error, err error) {
	token, err := WorkerToken(ctx, a.server.URL(), a.b.Clock.Now())
	if err != nil {
		return nil, err
	}
	w, err := worker.New(worker.Options{
		Servers: []string{a.server.URL()}, Token: token, Group: WorkerGroup, Instance: "bench",
		Slots: min(a.cfg.Executor.Slots, mostSlots),
		Handlers: map[string]sdk.Handler{node.JobClass: sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
			return a.observer.Entered(run.JobName(), run.ScheduledTime(), run.Attempt())
		})},
		Logger: slog.New(slog.NewTextHandler(a.b.Progress, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, fmt.Errorf("make the worker: %w", err)
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(working) }()
	return func() error {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the worker ends: %w", err)
		}
		return nil
	}, nil
}

// WorkerToken makes the worker group, and returns a token of it.
func WorkerToken(ctx context.Context, url string, now time.Time) (string, error) {
	c, err := SignIn(ctx, url, 1)
	if err != nil {
		return "", err
	}
	path := "/worker-groups/" + WorkerGroup
	group := map[string]any{"jobGroups": []string{validation.DefaultGroup}, "maxWorkers": MostWorkers}
	if err := c.Call(ctx, http.MethodPut, path, nil, group, nil); err != nil {
		return "", fmt.Errorf("make the worker group: %w", err)
	}
	var made struct {
		Token string `json:"token"`
	}
	err = c.Call(ctx, http.MethodPost, path+"/tokens", nil,
		map[string]any{"name": "bench", "expiresAt": now.Add(24 * time.Hour)}, &made)
	if err != nil {
		return "", fmt.Errorf("make a token of the worker group: %w", err)
	}
	return made.Token, nil
}

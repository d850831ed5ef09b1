package workertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// stranded is the part of Groups about jobs that a group would leave behind. The first and the last of the jobs name
// it, and it serves none of them yet.
func stranded(t *testing.T, s *persistence.Store, g worker.Group, jobs []*entity.Job) {
	t.Helper()
	r, refused := s.WorkerGroups, errors.New("refused")
	var told []string
	strand := func(jobs []*entity.Job) error {
		told = convert.All(jobs, func(j *entity.Job) string { return j.ID })
		return refused
	}
	put := func(change func(g *worker.Group)) error {
		told = nil
		next := g
		change(&next)
		changed, err := r.PutWorkerGroup(t.Context(), next, strand)
		if err == nil {
			g = changed
		}
		return err
	}
	require.NoError(t, put(func(g *worker.Group) { g.MaxWorkers = 8 }), "it ran none of them before")
	require.NoError(t, put(func(g *worker.Group) { g.JobGroups = []string{jobs[0].Group, "other"} }))
	require.NoError(t, put(func(g *worker.Group) { g.JobGroups, g.Commands = []string{jobs[0].Group}, false }))
	require.ErrorIs(t, put(func(g *worker.Group) { g.JobGroups = []string{"other"} }), refused)
	require.Equal(t, []string{jobs[0].ID, jobs[3].ID}, told, "a label is no worker group")
	read, err := r.WorkerGroup(t.Context(), g.Name)
	require.NoError(t, err)
	require.Equal(t, g, read)
	require.ErrorIs(t, r.DropWorkerGroup(t.Context(), g.Name, strand), refused)
	require.Equal(t, []string{jobs[0].ID, jobs[3].ID}, told)

	// While a group is asked about its jobs, no other one can be saved that names it.
	called := false
	require.NoError(t, r.DropWorkerGroup(t.Context(), "bank", func([]*entity.Job) error { called = true; return nil }))
	require.False(t, called, "no job names it")
	putGroup(t, s, "bank", 1)
	require.ErrorIs(t, r.DropWorkerGroup(t.Context(), g.Name, func([]*entity.Job) error {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		err := s.Write(ctx, repository.LaneAPI, "test.save", func(ctx context.Context, tx repository.Tx) error {
			_, err := tx.WorkerGroups.HoldWorkerGroup(ctx, g.Name)
			return err
		})
		if err == nil {
			return errors.New("a job could be saved")
		}
		return refused
	}), refused)
	late := storetest.PlannedJob(9, storetest.Noon)
	late.Type, late.Routing.Workers = entity.JobCommand, g.Name
	require.NoError(t, put(func(g *worker.Group) { g.Commands = true }))
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.WorkerGroups.HoldWorkerGroup(ctx, "nobody"); !apperror.Is(err, apperror.KindNotFound) {
			return fmt.Errorf("nobody is held: %w", err)
		}
		held, err := tx.WorkerGroups.HoldWorkerGroup(ctx, g.Name)
		if err != nil || held.Version != g.Version {
			return fmt.Errorf("held version %d of the group: %w", held.Version, err)
		}
		return tx.Jobs.Insert(ctx, late)
	})
	require.ErrorIs(t, put(func(g *worker.Group) { g.Commands = false }), refused)
	require.Equal(t, []string{late.ID}, told)
}

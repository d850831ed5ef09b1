package persistence_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// The store keeps the former name of COMMAND, so that nodes of former releases
// read the rows and versions of this one, and this one reads theirs.
func TestTheStoreKeepsTheFormerNameOfCommands(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		var jobs []*entity.Job
		for _, kind := range []entity.JobType{entity.JobCommand, entity.JobHTTP} {
			jobs = append(jobs, &entity.Job{
				ID: string(kind), Name: string(kind), Group: "g", Type: kind, Version: 1, Status: entity.JobEnabled,
				NextFireTime: now, DueTime: now, CreateTime: now, UpdateTime: now,
			})
		}
		require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "make",
			func(ctx context.Context, tx repository.Tx) error {
				return tx.Jobs.Insert(ctx, jobs...)
			}))
		var column, version string
		require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "look",
			func(ctx context.Context, tx dbtest.Tx) (err error) {
				if column, err = tx.QueryText(ctx,
					"SELECT job_type FROM scheduler_job_definition WHERE id = 'COMMAND'"); err != nil {
					return err
				}
				version, err = tx.QueryText(ctx, "SELECT definition FROM scheduler_job_version WHERE job_id = 'COMMAND'")
				return err
			}))
		require.Equal(t, "CRON", column)
		require.Contains(t, version, `"jobType":"CRON"`)

		found, _, err := s.Jobs.List(t.Context(), repository.JobFilter{Type: entity.JobCommand}, repository.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, entity.JobCommand, found[0].Type)
		versions, _, err := s.Jobs.History(t.Context(), "COMMAND", repository.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, versions, 1)
		require.Equal(t, entity.JobCommand, versions[0].Type)
		require.NoError(t, s.Write(t.Context(), repository.LaneFire, "read",
			func(ctx context.Context, tx repository.Tx) error {
				read, err := tx.Jobs.Read(ctx, []string{"COMMAND", "HTTP"})
				if err == nil {
					require.ElementsMatch(t, []entity.JobType{entity.JobCommand, entity.JobHTTP},
						[]entity.JobType{read[0].Type, read[1].Type})
				}
				return err
			}))
	})
}

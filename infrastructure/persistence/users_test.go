package persistence_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func TestNoTwoUsersDifferByCaseAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		add := func(id int, name string) error {
			at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
			return s.AddUser(t.Context(), entity.User{
				ID: fmt.Sprint("user-", id), Name: name, Role: entity.RoleViewer,
				CreateTime: at, UpdateTime: at,
			})
		}

		names := []string{"eve", "Eve", "EVE", "eVe", "evE", "EVe"}
		made := make(chan error, len(names))
		for i, name := range names {
			go func() { made <- add(i, name) }()
		}
		won := 0
		for range names {
			if err := <-made; err == nil {
				won++
			} else {
				require.True(t, apperror.Is(err, apperror.KindConflict), err)
			}
		}
		require.Equal(t, 1, won, "of those that came at the same time")

		// A node of a former release makes users without a key.
		require.NoError(t, add(100, "Old"))
		driver, dsn := "mysql", cfg.DSN
		if cfg.Path != "" {
			driver, dsn = "sqlite", cfg.Path
		}
		db, err := sql.Open(driver, dsn)
		require.NoError(t, err)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), "UPDATE scheduler_user SET name_key = NULL WHERE id = 'user-100'")
		require.NoError(t, err)
		require.True(t, apperror.Is(add(101, "old"), apperror.KindConflict))
		u, err := s.UserByName(t.Context(), "Old")
		require.NoError(t, err)
		require.Equal(t, "user-100", u.ID)
	})
}

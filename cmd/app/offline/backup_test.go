package offline_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

// A backup is as old as it took to write it, because it holds the moment of its begin; its name says when it began.
func TestABackupIsAsOldAsItTookToWrite(t *testing.T) {
	folder := t.TempDir()
	dbtest.SQLiteAt(t, filepath.Join(folder, datafolder.DatabaseFile))
	c := clocktest.NewManual(time.Date(2026, 11, 29, 12, 30, 15, 7_000_000, time.UTC))
	passed := false
	b, err := offline.BackUp(t.Context(), config.Config{
		DataDir: folder, Store: config.Store{Driver: config.DriverSQLite},
	}, t.TempDir(), storecopy.Options{Fast: true, By: "ann@host", Clock: c}, func(storecopy.Progress) {
		if !passed {
			passed = true
			c.Advance(90*time.Second + 400*time.Millisecond)
		}
	})
	require.NoError(t, err)
	require.Equal(t, "1m30s", b.Age.String())
	require.Equal(t, "platform-scheduler-20261129T123015.007Z.db", filepath.Base(b.File))
}

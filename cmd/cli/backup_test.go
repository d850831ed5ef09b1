package cli_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// standalone is the data folder of a server, and its store.
func standalone(t *testing.T) (folder string, s *persistence.Store) {
	t.Helper()
	folder = t.TempDir()
	path := filepath.Join(folder, datafolder.DatabaseFile)
	dbtest.SQLiteAt(t, path)
	return folder, dbtest.Open(t, persistence.Config{
		Config: sqldb.Config{Driver: "sqlite", Path: path, Synchronous: "NORMAL"},
	})
}

// A backup whose secrets another key sealed is refused, and makes nothing. The advice of the refusal leads on.
func TestABackupOfAnotherKeyIsRefused(t *testing.T) {
	live, s := standalone(t)
	keyFile := filepath.Join(live, datafolder.KeyFile)
	ring, err := secret.LoadFile(keyFile)
	require.NoError(t, err)
	key, sealed, err := ring.Seal("db", "canary")
	require.NoError(t, err)
	require.NoError(t, s.AddSecret(t.Context(), entity.Secret{
		Name: "db", KeyID: key, Sealed: sealed, Version: 1, CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
	}))
	backups := t.TempDir()
	code, out, errOut := run(t, []string{"PS_DATA_DIR=" + live}, "store", "backup", backups, "--fast")
	require.Zero(t, code, errOut)
	require.Regexp(t, `\S+\.db: \d+ rows, \d+ bytes, as of 20\S+Z, \d+s ago\n`, out)
	require.Contains(t, out, "its secrets are sealed by the key "+key+", which is not in it: ")
	files, err := filepath.Glob(filepath.Join(backups, "*.db"))
	require.NoError(t, err)
	require.Len(t, files, 1)

	another := t.TempDir()
	_, err = secret.LoadFile(filepath.Join(another, datafolder.KeyFile)) // makes one
	require.NoError(t, err)
	for name, environ := range map[string][]string{
		"of the data folder":   nil,
		"of the configuration": {"PS_SECRETS_KEY=" + base64.StdEncoding.EncodeToString(make([]byte, secret.KeyBytes))},
	} {
		code, _, errOut := run(t, environ, "store", "restore", files[0], "--to", another)
		require.Equal(t, 1, code, name)
		require.Contains(t, errOut, fmt.Sprintf("secrets of the backup are sealed by a key that is not here (%s): copy %s "+
			"of the former data folder to %s first, or give the former secrets.key; or restore it with --without-key", key,
			datafolder.KeyFile, filepath.Join(another, datafolder.KeyFile)), name)
		require.NoFileExists(t, filepath.Join(another, datafolder.DatabaseFile), name)
	}
	text, err := os.ReadFile(keyFile)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(another, datafolder.KeyFile), text, 0o600))
	code, out, errOut = run(t, nil, "store", "restore", files[0], "--to", another)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "were restored")
	require.FileExists(t, filepath.Join(another, datafolder.DatabaseFile))
}

// Before it asks, activate says of each job what its policy makes of missed fires, and which runs go on.
func TestActivateSaysWhatBecomesOfMissedFires(t *testing.T) {
	folder, s := standalone(t)
	now := time.Now()
	var jobs []*entity.Job
	for i, policy := range []entity.MisfirePolicy{entity.MisfireFireOnce, entity.MisfireSkip, entity.MisfireFireAll} {
		j := storetest.PlannedJob(i+1, now.Add(-time.Hour))
		j.Misfire.Policy, j.Misfire.ThresholdSec = policy, 60+i
		jobs = append(jobs, j)
	}
	late, nextWeek := storetest.PlannedJob(4, now.Add(-time.Minute)), storetest.PlannedJob(5, now.AddDate(0, 0, 7))
	late.Misfire.ThresholdSec = 3600
	waits, runs := storetest.RunOf(storetest.JobID(2), now), storetest.RunOf(storetest.JobID(2), now.Add(-time.Minute))
	storetest.Add(t, s, append(jobs, late, nextWeek), waits, storetest.StartedOn(runs, "node-lost", 1))
	environ := []string{"PS_DATA_DIR=" + folder}
	code, _, errOut := run(t, environ, "store", "standby", "--reason", "restored")
	require.Zero(t, code, errOut)

	code, out, errOut := run(t, environ, "store", "activate")
	require.Equal(t, 2, code, out)
	require.Contains(t, errOut, "--yes")
	for _, row := range []string{
		`DUE +GROUP +JOB +MISSED FIRES`,
		`20\S+ +default +job 1 +the latest of its window fires, and those of the last 60 s`,
		`20\S+ +default +job 2 +those of the last 61 s fire, others are skipped`,
		`20\S+ +default +job 3 +all of its window fire, and those of the last 62 s`,
		`20\S+ +default +job 4 +–`,
		`jobs with missed fires: 3; the misfire policy of each decides`,
		`GROUP +JOB +WAITING +IN PROGRESS`,
		`default +job 2 +1 +1`,
	} {
		require.Regexp(t, `(?m)^`+row+` *$`, out)
	}
	require.NotContains(t, out, "job 5", "it fires later than within a day")
	state, err := s.StoreState(t.Context())
	require.NoError(t, err)
	require.Equal(t, entity.StoreStandby, state.Mode, "nobody said yes")

	code, out, errOut = run(t, environ, "store", "activate", "--yes")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "the store is active")
	state, err = s.StoreState(t.Context())
	require.NoError(t, err)
	require.Equal(t, entity.StoreActive, state.Mode)
}

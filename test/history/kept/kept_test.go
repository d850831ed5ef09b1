package kept_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/history/kept"
)

// sample is a history with one fire that is missing, and one message that nobody got.
func sample() kept.Kept {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return kept.Kept{
		Seed: 5,
		History: history.History{Jobs: []history.Job{
			{ID: "j", Name: "minutely", Step: time.Minute, Origin: at, From: at, Until: at.Add(time.Second), Shards: 1},
		}},
		Deliveries: &delivery.History{Messages: []delivery.Message{{ID: "m", State: "OPEN"}}},
	}
}

// A history that is read again is judged as it was.
func TestAKeptHistoryIsJudgedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.json.gz")
	require.NoError(t, kept.Write(file, sample()))
	again, err := kept.Read(file)
	require.NoError(t, err)
	require.Equal(t, sample(), again)
	found := again.Judge().Violations
	require.Equal(t, sample().Judge().Violations, found)
	require.Len(t, found, 2)
	require.Equal(t, history.RuleMissingFire, found[0].Rule)
	require.Equal(t, kept.RuleDeliveries, found[1].Rule)
}

// A history that cannot be judged is refused in one sentence that says what to do.
func TestAFileThatIsNoWholeHistoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	require.NoError(t, kept.Write(whole, sample()))
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"cut":       {text[:len(text)/2], "is cut or damaged: copy it whole, or repeat the simulation of its seed"},
		"last byte": {text[:len(text)-1], "is cut or damaged"},
		"empty":     {nil, "is no history: name a file that a simulation has kept"},
		"text":      {[]byte("seed 7"), "is no history: name a file"},
	} {
		file := filepath.Join(dir, "bad")
		require.NoError(t, os.WriteFile(file, c.text, 0o600))
		_, err := kept.Read(file)
		require.ErrorContains(t, err, c.want, name)
	}
	none := filepath.Join(dir, "none")
	require.NoError(t, kept.Write(none, kept.Kept{}))
	_, err = kept.Read(none)
	require.ErrorContains(t, err, "has no jobs: nothing can be judged")
	_, err = kept.Read(filepath.Join(dir, "missing"))
	require.ErrorContains(t, err, "name a file that a simulation has kept")
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/history/kept"
)

func judged(files ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = judge(&o, &e, files)
	return code, o.String(), e.String()
}

// Each file is judged: one that is cut hides no violation of another.
func TestEachFileIsJudged(t *testing.T) {
	dir, at := t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	job := history.Job{ID: "j", Name: "minutely", Step: time.Minute, Origin: at, From: at, Until: at, Shards: 1}
	whole, red, cut := filepath.Join(dir, "whole"), filepath.Join(dir, "red"), filepath.Join(dir, "cut")
	require.NoError(t, kept.Write(whole, kept.Kept{Seed: 7, History: history.History{Jobs: []history.Job{job}}}))
	job.Until = at.Add(time.Second)
	require.NoError(t, kept.Write(red, kept.Kept{Seed: 8, History: history.History{Jobs: []history.Job{job}}}))
	text, err := os.ReadFile(red)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cut, text[:len(text)-3], 0o600))

	code, out, errs := judged(whole)
	require.Zero(t, code, errs)
	require.Contains(t, out, "seed 7: 1 jobs")
	code, out, errs = judged(whole, red)
	require.Equal(t, 1, code, errs)
	require.Contains(t, out, history.RuleMissingFire)
	code, out, errs = judged(cut, red)
	require.Equal(t, 2, code)
	require.Contains(t, out, history.RuleMissingFire)
	require.Equal(t, "the history "+cut+" is cut or damaged: copy it whole, or repeat the simulation of its seed\n", errs)
	code, _, errs = judged()
	require.Equal(t, 2, code)
	require.Equal(t, "name the history to judge: go run ./test/history/judge FILE…\n", errs)
}

// Package baseline learns what is usual for a job: how long it runs, by hour or weekday
// where that matters, and how often it fails. It judges runs by that, and explains its
// findings with the numbers. It is pure: it knows no store and no clock.
package baseline

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

const (
	// MinRuns is how many runs a job needs before anything is usual.
	MinRuns = 10
	// fullWeight is what all runs weigh together, so that one counts half after 50:
	// 1 / (1 − 2^(−1/50)).
	fullWeight = 72.6
)

// Run is what a baseline learns of a run that has ended.
type Run struct {
	// Start is when it started, in the time zone whose hours and weekdays count.
	Start    time.Time
	Duration time.Duration
	Status   entity.Status
	Version  int
}

// RunOf is the run of an end, in a time zone. It is false for ends that neither teach
// nor are judged: what neither the schedule nor a workflow run asked for, single shards, items of maps, workflow runs
// that waited for people, and what was cancelled, skipped, or has not started.
func RunOf(e *statistics.End, zone *time.Location) (r Run, ok bool) {
	asked := e.Trigger == entity.TriggerSchedule || e.Trigger == entity.TriggerDependency && e.Inline()
	if !asked || e.Shards > 0 || e.Item || e.Waited || !e.Started {
		return r, false
	}
	r = Run{Start: e.At.Add(-e.Duration).In(zone), Duration: e.Duration, Status: e.Status, Version: e.Version}
	return r, r.Status == entity.StatusSuccess || r.Status.Failed()
}

// State is the baseline of one job. Its fields are as exact as its stored form, so that
// it makes no difference how often it is stored between two runs. The zero value knows
// nothing. It is not safe for concurrent use.
type State struct {
	// runs counts the successful runs that it has learned from.
	runs    uint32
	version uint32
	// since and last are when the first and the last of them started, in hours since
	// 1970.
	since, last uint32
	// first are the logarithms of the first MinRuns durations, until there are so many.
	first []float32
	// weight is how many runs level and spread rest on: fullWeight at most, half of
	// what it was when a new version of the job comes.
	weight float32
	// level is the usual logarithm of the duration in ms, less the season's offset;
	// spread is how far it usually lies off, as a standard deviation.
	level, spread float32
	season        season
	longer        outliers
	shorter       outliers
	failures      failures
}

// Runs is how many successful runs it has learned from.
func (s *State) Runs() int { return int(s.runs) }

// offset is how far runs that start at a moment lie off the level; false while nobody
// can know.
func (s *State) offset(start time.Time) (offset float64, known bool) {
	if s.runs < MinRuns {
		return 0, false
	}
	return s.season.offset(start)
}

// Package executortest holds helpers that tests of executors share.
package executortest

import (
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Line is one line that an attempt logged.
type Line struct {
	Type entity.LogType
	Text string
}

// Recorder is a Reporter that keeps what the attempt reports. Safe for concurrent use.
type Recorder struct {
	mu         sync.Mutex
	lines      []Line
	progress   int
	checkpoint string
	waits      int
}

// Log implements entity.Reporter.
func (r *Recorder) Log(t entity.LogType, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, Line{t, line})
}

// Progress implements entity.Reporter.
func (r *Recorder) Progress(percent int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = percent
}

// Checkpoint implements entity.Reporter.
func (r *Recorder) Checkpoint(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkpoint = state
}

// Waits implements entity.Reporter.
func (r *Recorder) Waits() (begins func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits++
	return func() {}
}

// Waited returns how often the attempt said that it waits.
func (r *Recorder) Waited() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waits
}

// Lines returns the lines so far.
func (r *Recorder) Lines() []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// Last returns the latest progress and checkpoint.
func (r *Recorder) Last() (progress int, checkpoint string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress, r.checkpoint
}

// NewRun returns the first attempt of a planned run of a job of that type, class and data.
func NewRun(t entity.JobType, class, data string) entity.Run {
	at := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	return entity.Run{
		Job: &entity.Job{ID: "job-1", Name: "settle orders", Type: t, Class: class, Data: data},
		Execution: &entity.Execution{
			ID: "execution-1", JobID: "job-1", ScheduledTime: at, DueTime: at, Trigger: entity.TriggerSchedule,
			ShardTotal: 1, Attempt: 1, Token: 1, Status: entity.StatusRunning,
		},
	}
}

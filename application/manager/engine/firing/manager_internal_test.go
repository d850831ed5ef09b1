package firing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// readied is a timer that has always gone off, and notes what it was set to.
type readied struct {
	set []time.Duration
	c   chan time.Time
}

func newReadied() *readied {
	c := make(chan time.Time)
	close(c)
	return &readied{c: c}
}

func (r *readied) C() <-chan time.Time   { return r.c }
func (r *readied) Stop() bool            { return false }
func (r *readied) Reset(d time.Duration) { r.set = append(r.set, d) }

func managerAtNoon() *JobManager {
	c := clocktest.NewManual(noon)
	return New(Deps{Commits: commit.NewCommits(), Clock: c, StoreClock: c, Logger: slog.New(slog.DiscardHandler)},
		Config{})
}

// A loop sleeps until the next due job, and never so long that a clock that
// jumps ahead is noticed late (engine rule 13).
func TestTheLoopSleepsUntilTheNextHint(t *testing.T) {
	for name, c := range map[string]struct {
		due  []time.Duration
		want []time.Duration
	}{
		"nothing is held": {nil, []time.Duration{idleCheck}},
		"due soon": {
			[]time.Duration{2 * time.Second, 200 * time.Millisecond},
			[]time.Duration{200 * time.Millisecond},
		},
		"due in some while": {[]time.Duration{2 * time.Second}, []time.Duration{idleCheck}},
		"due now":           {[]time.Duration{0}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := managerAtNoon()
			for i, due := range c.due {
				m.dueSet.Upsert(jobDueAt(fmt.Sprint(i), noon.Add(due)), nil)
			}
			timer := newReadied()
			m.awaitDue(t.Context(), timer)
			require.Equal(t, c.want, timer.set)
		})
	}
}

func TestTheLoopBacksOffWhileTheStoreFails(t *testing.T) {
	m, timer := managerAtNoon(), newReadied()
	for failures := 1; failures <= 8; failures++ {
		m.pause(t.Context(), timer, failures)
	}
	ms := time.Millisecond
	require.Equal(t, []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 2000 * ms, 2000 * ms, 2000 * ms},
		timer.set)
}

// manyDue are jobs in the order of the scan's index.
type manyDue struct {
	repository.JobPlanReader
	jobs    []*entity.Job
	pages   int
	reads   int
	failing string
}

var errAway = errors.New("away")

func (d *manyDue) DueKeys(_ context.Context, q repository.DueQuery) ([]repository.DueKey, error) {
	d.pages++
	if d.failing == "keys" {
		return nil, errAway
	}
	var keys []repository.DueKey
	for _, j := range d.jobs {
		past := j.DueTime.After(q.AfterDue) || j.DueTime.Equal(q.AfterDue) && j.ID > q.AfterID
		if past && !j.DueTime.After(q.Until) && len(keys) < q.Limit {
			keys = append(keys, repository.DueKey{ID: j.ID, DueTime: j.DueTime})
		}
	}
	return keys, nil
}

func (d *manyDue) ForPlanning(_ context.Context, ids []string) ([]*entity.Job, error) {
	if d.failing == "jobs" {
		return nil, errAway
	}
	var jobs []*entity.Job
	for _, id := range ids {
		i, found := slices.BinarySearchFunc(d.jobs, id, func(j *entity.Job, id string) int {
			return strings.Compare(j.ID, id)
		})
		if found {
			jobs = append(jobs, d.jobs[i])
		}
	}
	d.reads += len(jobs)
	return jobs, nil
}

func (d *manyDue) DivergedGroups(context.Context) ([]entity.Group, error) { return nil, nil }

func (d *manyDue) Partitions() []int              { return nil }
func (d *manyDue) Keep(*entity.Job)               {}
func (d *manyDue) Cached(string, int) *entity.Job { return nil }

func (d *manyDue) Compile(schedule.Spec) (*schedule.Schedule, error) {
	return &schedule.Schedule{}, nil
}

// scanOf is a manager that scans count jobs, many of which are due together.
func scanOf(count, held int) (*JobManager, *manyDue) {
	due := &manyDue{}
	for i := range count {
		due.jobs = append(due.jobs, jobDueAt(fmt.Sprintf("%06d", i), noon.Add(time.Duration(i/1500)*time.Millisecond)))
	}
	c := clocktest.NewManual(noon)
	return New(Deps{
		Commits: commit.NewCommits(), Clock: c, StoreClock: c, Plans: due, Groups: due, Owner: due, Definitions: due,
		Schedules: due,
		Logger:    slog.New(slog.DiscardHandler),
	}, Config{MaxHeld: held}), due
}

// Rule 12: nothing inside a scanned horizon is missed, however many pages it
// takes; what is held is not read again.
func TestAScanReadsEveryPage(t *testing.T) {
	for count, pages := range map[int]int{0: 1, 1: 1, scanPage - 1: 1, scanPage: 2, 2*scanPage + 100: 3} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			m, due := scanOf(count, 50_000)
			found, err := m.Scan(t.Context())
			require.NoError(t, err)
			require.Equal(t, count, found)
			require.Equal(t, count, m.Held())
			require.Equal(t, pages, due.pages)
			found, err = m.Scan(t.Context())
			require.NoError(t, err)
			require.Zero(t, found)
			require.Equal(t, count, due.reads)
		})
	}
}

// A job behind pages of jobs that are held already is found, too.
func TestAScanReadsBehindWhatIsHeld(t *testing.T) {
	m, due := scanOf(2*scanPage+100, 50_000)
	_, err := m.Scan(t.Context())
	require.NoError(t, err)
	due.jobs = append(due.jobs, jobDueAt("999999", noon.Add(time.Second)))
	found, err := m.Scan(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, found)
}

// While the due set is full a scan reads no more than it takes, and a quarter on
// top for what is on time.
func TestAScanStopsWhereTheBookIsFull(t *testing.T) {
	m, due := scanOf(3*scanPage, 1000)
	found, err := m.Scan(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1250, found)
	require.Equal(t, 1250, m.Held())
	found, err = m.Scan(t.Context())
	require.NoError(t, err)
	require.Zero(t, found)
	require.Equal(t, 1250, due.reads)
	m.dueSet.Take(noon, 1250)
	require.Equal(t, 1250, m.Held(), "what is being fired is held until it is finished")
}

func TestAScanThatFailsSaysSo(t *testing.T) {
	for _, what := range []string{"keys", "jobs"} {
		m, due := scanOf(3, 10)
		due.failing = what
		_, err := m.Scan(t.Context())
		require.ErrorIs(t, err, errAway)
		require.Zero(t, m.Held())
		due.failing = ""
		found, err := m.Scan(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, found)
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func jobDueAt(id string, at time.Time) *entity.Job {
	return &entity.Job{ID: id, Version: 1, Status: entity.JobEnabled, NextFireTime: at, DueTime: at}
}

package answer_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// rig is a node whose store answers by rules, and jobs of every kind of overlap.
type rig struct {
	*enginetest.Node
	store *answer.Store
	jobs  []*entity.Job
}

func newRig(t *testing.T, mysql bool) *rig {
	t.Helper()
	return newRigOf(t, mysql, enginetest.Options{}, 0,
		entity.OverlapParallel, entity.OverlapDiscard, entity.OverlapSerial, entity.OverlapDiscard)
}

// newRigOf has a job of each of the overlaps, and so many plain ones.
func newRigOf(t *testing.T, mysql bool, o enginetest.Options, plain int, overlaps ...entity.OverlapPolicy) *rig {
	t.Helper()
	for range plain {
		overlaps = append(overlaps, entity.OverlapParallel)
	}
	cfg := dbtest.SQLite(t)
	if mysql {
		dbtest.NeedMySQL(t)
		cfg = dbtest.Migrated(t)
	}
	r := &rig{store: &answer.Store{}}
	cfg.Connect = r.store.Connect
	clock := clocktest.NewManual(enginetest.Noon)
	cfg.Clock = clock
	o.Clock = clock
	r.Node = enginetest.On(t, dbtest.Open(t, cfg), o)
	for i, overlap := range overlaps {
		r.jobs = append(r.jobs, r.Add(t, enginetest.Job(fmt.Sprintf("job %d", i), func(j *entity.Job) {
			enginetest.Every(10 * time.Second)(j)
			j.Overlap = overlap
		})))
	}
	r.Start(t)
	return r
}

// turn does what all loops of a node do, and lets time pass.
func (r *rig) turn(t *testing.T, pass time.Duration) {
	_, _ = r.Planner.Scan(t.Context())
	_, _ = r.Planner.FireDue(t.Context())
	r.Runner.RunsReady(entity.SlotGeneral)
	_, _ = r.Repairs.SweepSlots(t.Context())
	_, _ = r.Repairs.SweepDeadlines(t.Context())
	_, _ = r.Repairs.PromoteScheduled(t.Context())
	_, _ = r.Dispatch.Sweep(t.Context())
	r.Clock.Advance(pass)
	synctest.Wait() // the loops of the runner have their own goroutines
}

// settled: every job has so many runs, all ended, and nothing holds a slot.
func (r *rig) settled(t *testing.T, runs int, jobs ...*entity.Job) bool {
	for _, job := range jobs {
		execs := r.Executions(t, job.ID)
		if len(execs) < runs || len(r.InFlightFires(t, job.ID)) > 0 {
			return false
		}
		for _, exec := range execs {
			if !exec.Status.Final() {
				return false
			}
		}
	}
	return true
}

// await lets up to ten minutes pass until something has happened.
func (r *rig) await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for range 1200 {
		r.turn(t, 500*time.Millisecond)
		if happened() {
			return
		}
	}
	require.Fail(t, what+" does not happen")
}

// bubble runs a subtest in which nothing goes by the time of the machine.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// check asks that each fire of a job has one row, and that it ran.
func (r *rig) check(t *testing.T, jobs ...*entity.Job) {
	t.Helper()
	for _, job := range jobs {
		seen := map[time.Time]bool{}
		for _, exec := range r.Executions(t, job.ID) {
			require.False(t, seen[exec.ScheduledTime], "a fire has two rows")
			seen[exec.ScheduledTime] = true
			require.Equal(t, entity.StatusSuccess, exec.Status, "%s: %s %s", job.Name, exec.Reason, exec.ErrorMessage)
		}
		for at := enginetest.Noon; at.Before(r.Job(t, job.ID).NextFireTime); at = at.Add(10 * time.Second) {
			require.True(t, seen[at], "the fire of %s has no row", at)
		}
	}
}

// unknownToSQLite is an answer of SQLite that is in no list, from SQLite itself.
func unknownToSQLite(t *testing.T) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "garbage.db")
	garbage := []byte("this is no file of a database, whatever it is called, nor ever was")
	require.NoError(t, os.WriteFile(path, garbage, 0o600))
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE t (a)")
	require.Error(t, err)
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

const (
	statement       = "a statement"
	insteadOfCommit = "instead of the commit"
	afterCommit     = "after the commit"
)

var placeOf = map[string]answer.Place{
	statement: answer.Statement, insteadOfCommit: answer.InsteadOfCommit, afterCommit: answer.AfterCommit,
}

// The whole store gives an unknown answer, once or for two seconds, at any place. Each fire still has one row that ran,
// none is left out, and nothing keeps a slot. SQLite tells the truth about a commit.
func TestAnAnswerOfTheStoreLosesNothing(t *testing.T) {
	ask := func(t *testing.T, mysql bool, place string, times int, answered error) {
		bubble(t, fmt.Sprintf("%s, %d times", place, times), func(t *testing.T) {
			r := newRig(t, mysql)
			r.await(t, "the first fires", func() bool { return r.settled(t, 1, r.jobs...) })
			for r.Clock.Now().Before(enginetest.Noon.Add(9 * time.Second)) {
				r.turn(t, 500*time.Millisecond)
			}
			r.store.Set(&answer.Rule{Place: placeOf[place], Times: times, Err: answered})
			for range 20 { // over the moment of the second fires
				r.turn(t, 100*time.Millisecond)
			}
			given := r.store.Given()
			r.store.Set(nil)
			require.Positive(t, given)
			r.await(t, "the fires after it", func() bool { return r.settled(t, 4, r.jobs...) })
			r.check(t, r.jobs...)
		})
	}
	t.Run("sqlite", func(t *testing.T) {
		for _, times := range []int{1, 0} {
			ask(t, false, statement, times, unknownToSQLite(t))
			ask(t, false, insteadOfCommit, times, unknownToSQLite(t))
		}
	})
	all := []string{statement, insteadOfCommit, afterCommit}
	for i, n := range answer.Numbers() { // each number meets another place
		t.Run(fmt.Sprintf("mysql/%d", n.Number), func(t *testing.T) {
			dbtest.NeedMySQL(t)
			ask(t, true, all[i%len(all)], i%2, n.Err())
		})
	}
}

// An answer that one job alone meets, for good, stops that job alone.
func TestAnAnswerAboutOneRowStopsThatRowAlone(t *testing.T) {
	ask := func(t *testing.T, mysql bool, answered error) {
		r := newRig(t, mysql)
		r.await(t, "the first fires", func() bool { return r.settled(t, 1, r.jobs...) })
		bad, others := r.jobs[1], append([]*entity.Job{r.jobs[0]}, r.jobs[2:]...)
		r.store.Set(&answer.Rule{Place: answer.Statement, Match: answer.Of(bad.ID), Err: answered})
		r.await(t, "the others go on", func() bool { return r.settled(t, 4, others...) })
		require.Positive(t, r.store.Given())
		r.check(t, others...)
		r.store.Set(nil)
		r.await(t, "and so does it, later", func() bool { return r.settled(t, 5, bad) })
	}
	bubble(t, "sqlite", func(t *testing.T) { ask(t, false, unknownToSQLite(t)) })
	bubble(t, "mysql", func(t *testing.T) {
		dbtest.NeedMySQL(t)
		ask(t, true, answer.Numbers()[0].Err())
	})
}

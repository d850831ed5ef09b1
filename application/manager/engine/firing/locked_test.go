package firing_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// stranger holds rows of the store in a transaction that is none of ours.
type stranger struct {
	t  *testing.T
	db *sql.DB
	tx *sql.Tx
}

// lock takes executions and keeps them until release.
func (s *stranger) lock(query string, args ...any) {
	s.t.Helper()
	var err error
	s.tx, err = s.db.BeginTx(s.t.Context(), nil)
	require.NoError(s.t, err)
	rows, err := s.tx.QueryContext(s.t.Context(), query+" FOR UPDATE", args...)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, rows.Close()) }()
	locked := 0
	for rows.Next() {
		locked++
	}
	require.NoError(s.t, rows.Err())
	require.Positive(s.t, locked, "there is something to lock")
}

func (s *stranger) lockJob(id string) {
	s.lock("SELECT id FROM scheduler_job_definition WHERE id = ?", id)
}

// awaitWaiter returns when somebody waits for what is locked, or the test ends: a
// locking read that passes over nothing is at work.
func (s *stranger) awaitWaiter() error {
	const waiters = `SELECT COUNT(*) FROM information_schema.PROCESSLIST
		WHERE DB = DATABASE() AND ID <> CONNECTION_ID() AND INFO LIKE '%FOR UPDATE%' AND INFO NOT LIKE '%SKIP LOCKED%'`
	for {
		var n int
		if err := s.db.QueryRowContext(s.t.Context(), waiters).Scan(&n); err != nil || n > 0 {
			return err
		}
	}
}

// watch looks whether a transaction waits for a lock, until it is asked for what it saw.
func (s *stranger) watch() (waited func() bool) {
	const waiters = `SELECT COUNT(*) FROM information_schema.INNODB_TRX t
		JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id
		WHERE p.DB = DATABASE() AND t.trx_state = 'LOCK WAIT'`
	over, seen := make(chan struct{}), make(chan int, 1)
	go func() {
		n := 0
		for n == 0 {
			select {
			case <-over:
				seen <- 0
				return
			default:
				assert.NoError(s.t, s.db.QueryRowContext(s.t.Context(), waiters).Scan(&n))
			}
		}
		seen <- n
	}()
	return func() bool { close(over); return <-seen > 0 }
}

func (s *stranger) release() { require.NoError(s.t, s.tx.Rollback()) }

// onServer runs a test on a store in which executions can be locked.
func onServer(t *testing.T, test func(t *testing.T, n *enginetest.Node, s *stranger)) {
	t.Helper()
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	test(t, enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{}), &stranger{t: t, db: dbtest.Raw(t, cfg)})
}

func lockedFires(n *enginetest.Node) int {
	return n.Counts.Of(func(c *enginetest.Counts) int { return c.Locked })
}

// fireLocked tries again what was locked, after a while.
func fireLocked(t *testing.T, n *enginetest.Node, after time.Duration) int {
	t.Helper()
	n.Clock.Advance(after)
	jobs, err := n.Planner.FireLocked(t.Context())
	require.NoError(t, err)
	return jobs
}

// fireLockedUntil tries again what was locked, each second of the node's clock.
func fireLockedUntil(t *testing.T, n *enginetest.Node, fired func() bool) {
	t.Helper()
	for range 60 {
		if fired() {
			return
		}
		fireLocked(t, n, time.Second)
	}
	require.Fail(t, "it does not fire")
}

// Rule 8: a job whose row somebody else has locked drops out alone, and nobody
// waits for it. It fires when the lock is gone, without another scan.
func TestAJobWhoseRowIsLockedDropsOutAlone(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			onServer(t, func(t *testing.T, n *enginetest.Node, s *stranger) {
				jobs := addMany(t, n, 60, func(_ int, j *entity.Job) { j.Overlap = overlap })
				held := jobs[17]
				s.lockJob(held.ID)
				require.NoError(t, fireOnce(t, n))
				for _, job := range jobs {
					if job != held {
						require.Len(t, n.Executions(t, job.ID), 1)
					}
				}
				require.Empty(t, n.Executions(t, held.ID))
				require.Equal(t, []int{1, 1}, []int{lockedFires(n), n.Planner.Locked()})
				n.Fire(t)
				require.Equal(t, 1, lockedFires(n), "the scan leaves it where it is")
				require.Zero(t, fireLocked(t, n, 0), "not so soon")
				require.Equal(t, 1, fireLocked(t, n, 20*time.Millisecond))
				require.Empty(t, n.Executions(t, held.ID))
				s.release()
				require.Equal(t, 1, fireLocked(t, n, 40*time.Millisecond))
				require.Equal(t, []int{0}, scheduledTimes(n.Executions(t, held.ID)))
				require.Equal(t, second(1), n.Job(t, held.ID).NextFireTime)
				require.Zero(t, n.Planner.Locked())
				enginetest.Await(t, func() bool { return slotsInUse(n) == len(n.Script.Runs()) },
					"no slot is kept for what did not start")
			})
		})
	}
}

// A lock wait of the store lasts a second, and a fire waits for none.
func TestNobodyWaitsForALockedRow(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			onServer(t, func(t *testing.T, n *enginetest.Node, s *stranger) {
				jobs := addMany(t, n, 10, func(_ int, j *entity.Job) { j.Overlap = overlap })
				for i, held := range jobs[:5] {
					n.Clock.Advance(second(i).Sub(n.Clock.Now()))
					s.lockJob(held.ID)
					waited := s.watch()
					require.NoError(t, fireOnce(t, n))
					require.False(t, waited(), "it waits for a lock")
					require.Len(t, n.Executions(t, held.ID), i, "it is locked")
					s.release()
				}
			})
		})
	}
}

// Whoever locks a job's row again and again, as the ends of its runs do, does not
// keep it from firing: it waits for its turn.
func TestAJobThatIsLockedOftenWaitsForItsTurn(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			onServer(t, func(t *testing.T, n *enginetest.Node, s *stranger) {
				job := n.Add(t, everySecond(func(j *entity.Job) { j.Overlap = overlap }))
				s.lockJob(job.ID)
				require.NoError(t, fireOnce(t, n))
				for range 4 {
					require.Equal(t, 1, fireLocked(t, n, time.Second))
				}
				require.Empty(t, n.Executions(t, job.ID))
				released := make(chan error, 1)
				go func() {
					err := s.awaitWaiter()
					released <- errors.Join(err, s.tx.Rollback())
				}()
				require.Equal(t, 1, fireLocked(t, n, time.Second))
				require.NoError(t, <-released)
				require.NotEmpty(t, n.Executions(t, job.ID))
			})
		})
	}
}

// Each of several takes its turn to wait, also beside one that is never free.
func TestTheOneThatIsNeverFreeKeepsNoOtherOut(t *testing.T) {
	onServer(t, func(t *testing.T, n *enginetest.Node, s *stranger) {
		jobs := addMany(t, n, 3, nil)
		s.lock("SELECT id FROM scheduler_job_definition WHERE id IN (?, ?, ?)", jobs[0].ID, jobs[1].ID, jobs[2].ID)
		require.NoError(t, fireOnce(t, n))
		for range 7 { // in three of them one waits for a lock wait
			require.Equal(t, 3, fireLocked(t, n, time.Second))
		}
		require.Equal(t, 3, n.Planner.Locked())
		ids, count := n.Planner.LockedLong()
		require.Empty(t, ids, "seven seconds")
		require.Zero(t, count)
		s.release()
		s.lockJob(jobs[0].ID)
		fireLocked(t, n, 2*time.Second)
		fireLocked(t, n, 2*time.Second)
		require.NotEmpty(t, n.Executions(t, jobs[1].ID))
		require.NotEmpty(t, n.Executions(t, jobs[2].ID))
		ids, count = n.Planner.LockedLong()
		require.Equal(t, []string{jobs[0].ID}, ids)
		require.Equal(t, 1, count)
		s.release()
	})
}

// A job that is edited, or given to another node, while it is locked is not
// fired as it was.
func TestWhatIsLockedFollowsItsJob(t *testing.T) {
	onServer(t, func(t *testing.T, n *enginetest.Node, s *stranger) {
		jobs := addMany(t, n, 2, nil)
		s.lock("SELECT id FROM scheduler_job_definition WHERE id IN (?, ?)", jobs[0].ID, jobs[1].ID)
		require.NoError(t, fireOnce(t, n))
		require.Equal(t, 2, n.Planner.Locked())
		s.release()
		paused := *jobs[0]
		paused.Status = entity.JobPaused
		n.Planner.JobChanged(&paused)
		require.Equal(t, 1, n.Planner.Locked())
		n.Own()
		require.NoError(t, n.Planner.Rebalanced(t.Context()))
		require.Zero(t, n.Planner.Locked())
		require.Zero(t, fireLocked(t, n, time.Minute))
	})
}

// The row of a group with a limit, or a run that a fire must end, may be locked,
// too. Others fire, and in the end the one that is to blame is alone.
func TestOtherLocksHoldUpTheirOwnJobsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		lock   func(n *enginetest.Node, s *stranger, bad *entity.Job)
	}{
		"a group": {func(j *entity.Job) {
			j.Group, j.Limited = "limited", true
		}, func(_ *enginetest.Node, s *stranger, _ *entity.Job) {
			s.lock("SELECT name FROM scheduler_job_group WHERE name = 'limited'")
		}},
		"a run that is replaced": {func(j *entity.Job) {
			j.Overlap = entity.OverlapReplace
		}, func(n *enginetest.Node, s *stranger, bad *entity.Job) {
			run := n.Trigger(s.t, bad.ID)[0]
			s.lock("SELECT id FROM scheduler_job_execution WHERE id = ?", run.ID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onServer(t, func(t *testing.T, n *enginetest.Node, s *stranger) {
				jobs := addMany(t, n, 12, func(i int, j *entity.Job) {
					if i == 5 {
						c.change(j)
					} else if i%2 == 0 {
						j.Overlap = entity.OverlapSerial
					}
				})
				bad := jobs[5]
				c.lock(n, s, bad)
				before := len(n.Executions(t, bad.ID))
				require.NoError(t, fireOnce(t, n))
				others := slices.DeleteFunc(slices.Clone(jobs), func(j *entity.Job) bool { return j == bad })
				fireLockedUntil(t, n, func() bool {
					return !slices.ContainsFunc(others, func(j *entity.Job) bool { return len(n.Executions(t, j.ID)) == 0 })
				})
				require.Len(t, n.Executions(t, bad.ID), before)
				s.release()
				fireLockedUntil(t, n, func() bool { return len(n.Executions(t, bad.ID)) > before })
			})
		})
	}
}

// The planner's own loop tries what is locked and tells of what is so for long.
func TestTheLoopTriesWhatIsLockedAndTellsOfIt(t *testing.T) {
	onServer(t, func(t *testing.T, n *enginetest.Node, s *stranger) {
		var said logtest.Log
		n.Planner.Logger = slog.New(slog.NewTextHandler(&said, nil))
		job := n.Add(t, everySecond(nil))
		s.lockJob(job.ID)
		require.NoError(t, fireOnce(t, n))
		stop := runPlanner(t, n)
		n.Pass(t, func() bool {
			return len(said.With("somebody else has locked their rows", job.ID, "count=1")) == 1
		}, "it is told")
		s.release()
		n.Pass(t, func() bool { return len(n.Executions(t, job.ID)) > 0 }, "it fires")
		stop()
	})
}

// SQLite has one writer: nothing is ever locked.
func TestNothingIsLockedWhereThereIsOneWriter(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	jobs := addMany(t, n, 3, nil)
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		heads, locked, err := tx.Jobs.TryLock(ctx, []string{jobs[0].ID, jobs[1].ID, "unknown"})
		require.Len(t, heads, 2)
		require.Empty(t, locked)
		return err
	})
	n.Fire(t)
	require.Zero(t, n.Planner.Locked())
	require.Zero(t, fireLocked(t, n, time.Minute))
}

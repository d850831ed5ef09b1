package persistence_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// hotStatement is a statement of the hot path: it fires, claims or ends runs.
type hotStatement struct {
	Name string
	// Text is a part of its text that MySQL and MariaDB share, Arguments what it is given.
	Text, Arguments string
	// By is the index by which the server finds the rows; empty: it adds rows, or
	// changes them by adding.
	By string
	// Most is how many rows and index entries the server reads at most for each row that is
	// asked for or changed: the rows of the statement's own list of values, and their
	// positions, are among them.
	Most int
}

// hotPath holds each statement of the hot path. One that is added or changed changes a
// row here, and its commit says why.
var hotPath = []hotStatement{
	{"group.unsettled", "FROM scheduler_job_group WHERE settled = 0", "none", "idx_settled", 1},
	{"job.due", "SELECT id, due_time FROM scheduler_job_definition", "moment, limit", "idx_due", 1},
	{"job.plan", "FROM scheduler_job_definition", "ids", "PRIMARY", 1},
	{"job.by-ids", "FROM scheduler_job_definition", "ids", "PRIMARY", 1},
	{"job.versions", "SELECT id, version FROM scheduler_job_definition", "ids", "PRIMARY", 1},
	{"job.lock", "FROM scheduler_job_definition", "ids", "PRIMARY", 1},
	{"job.move", "scheduler_job_definition t", "ids, moments, versions", "PRIMARY", 6},
	{"job.advance", "scheduler_job_definition t", "ids, moments", "PRIMARY", 6},
	{"live-fire.count", "FROM scheduler_live_fire a", "ids of jobs", "idx_job_seq", 6},
	{"live-fire.oldest", "FROM scheduler_live_fire", "ids of jobs, limits", "idx_job_seq", 2},
	{"live-fire.some", "scheduler_live_fire t", "ids of jobs, keys of fires", "PRIMARY", 4},
	{"live-fire.insert", "INSERT INTO scheduler_live_fire", "rows", "", 1},
	{"live-fire.update", "scheduler_live_fire", "ids of jobs, keys of fires, what changes", "", 2},
	{"live-fire.delete", "scheduler_live_fire", "ids of jobs, keys of fires", "PRIMARY", 6},
	{"execution.insert", "INSERT INTO scheduler_job_execution", "rows", "", 1},
	{"claim.first", "SELECT claim_key FROM scheduler_job_execution", "bounds of a queue", "idx_claim", 1},
	{"claim.last", "SELECT claim_key FROM scheduler_job_execution", "bounds of a queue", "idx_claim", 1},
	{"claim.range", "FROM scheduler_job_execution", "bounds of a queue, limit", "idx_claim", 1},
	{"execution.claim-select", "FROM scheduler_job_execution", "bounds of a queue, limit", "idx_claim", 1},
	{"execution.claim-parents", "SELECT id, trace_parent FROM scheduler_job_execution", "ids", "PRIMARY", 1},
	{"execution.claim", "UPDATE scheduler_job_execution", "node, epoch, key, moments, ids", "PRIMARY", 2},
	{"execution.lock-at", "FROM scheduler_job_execution", "keys of a queue", "idx_claim", 4},
	{"execution.requeue", "scheduler_job_execution t", "ids, keys", "PRIMARY", 6},
	{"execution.finish", "scheduler_job_execution t", "ids, what became of them", "PRIMARY", 6},
	{"digest.insert", "INSERT INTO scheduler_end_digest", "rows", "", 1},
}

// hotBatch is how many jobs fire at once, half of them one after the other; beside
// them are so many others, and two queues of so many fires each, which run meanwhile.
const (
	hotBatch  = 20
	hotOthers = 500
	hotQueue  = 3000
)

// TestTheHotPathReadsWhatItAnswers asks the server itself, MySQL or MariaDB, how it runs
// each statement of the hot path and what it reads for it, beside long queues and other
// jobs: by EXPLAIN, and by what its session counts.
func TestTheHotPathReadsWhatItAnswers(t *testing.T) {
	dbtest.NeedMySQL(t)
	seen := map[string]int{}
	for _, x := range hotRound(t) {
		row := slices.IndexFunc(hotPath, func(h hotStatement) bool { return h.Name == x.Name })
		if !assertf(t, row >= 0, "%s stands in no row of the table: %s", x.Name, x.Text) {
			continue
		}
		h := hotPath[row]
		seen[h.Name] = max(seen[h.Name], x.Read)
		plan := strings.Join(x.Plan, "\n")
		told := fmt.Sprintf("%s, read %d, %q\n%.1000s", h.Name, x.Read, plan, x.Text)
		assertf(t, strings.Contains(x.Text, h.Text), "another text: %s", told)
		assertf(t, !x.Scans, "goes through a table: %s", told)
		assertf(
			t,
			h.By == "" || strings.Contains(plan, " by "+h.By+",") || strings.Contains(plan, byKey),
			"another index: %s",
			told,
		)
		assertf(t, x.Read <= h.Most*hotBatch+hotFixed, "reads more than %d rows: %s", h.Most*hotBatch+hotFixed, told)
	}
	for _, h := range hotPath {
		read, ok := seen[h.Name]
		assertf(t, ok, "%s was not seen", h.Name)
		t.Logf("%-24s reads up to %3d rows for a batch of %d", h.Name, read, hotBatch)
	}
}

// byKey is how a server names one row that it read by its key while it planned.
const byKey = "Impossible WHERE noticed after reading const tables"

// hotFixed is what a statement may read beside the rows of the batch: the ends of ranges.
const hotFixed = 5

func assertf(t *testing.T, ok bool, format string, args ...any) bool {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
	return ok
}

// hotRound lets jobs fire, run and end, and returns the statements of that.
func hotRound(t *testing.T) []examined {
	clock := clocktest.NewManual(enginetest.Noon)
	cfg := dbtest.Migrated(t)
	cfg.Clock = clock
	s, e := examinedStore(t, cfg)
	longQueue(t, s, "long", hotQueue)
	longQueue(t, s, "other", hotQueue)
	otherJobs(t, s)
	for _, table := range []string{"job_definition", "job_execution", "live_fire"} {
		_, err := dbtest.Raw(t, cfg).ExecContext(t.Context(), "ANALYZE TABLE scheduler_"+table)
		require.NoError(t, err)
	}
	n := enginetest.On(t, s, enginetest.Options{
		Clock: clock, Slots: 4 * hotBatch, BatchSize: hotBatch,
		Ends: []event.EndObserver{monitoring.NewDigests(slog.New(slog.DiscardHandler))},
	})
	for i := range hotBatch {
		n.Add(t, enginetest.Job(fmt.Sprintf("hot-%03d", i), func(j *entity.Job) {
			enginetest.Every(time.Minute)(j)
			if i%2 == 1 {
				j.Overlap = entity.OverlapSerial
			}
		}))
	}
	e.Watch(true)
	n.Runner.Suspend(true)
	for range 2 { // the second fire of a job that runs one after the other waits for the first
		_, err := n.Planner.Scan(t.Context())
		require.NoError(t, err)
		_, err = n.Planner.FireDue(t.Context())
		require.NoError(t, err)
		clock.Advance(time.Minute)
	}
	n.Runner.Suspend(false)
	n.Start(t)
	// The two long queues run, too.
	require.Eventually(
		t,
		func() bool { return n.Counts.Of(func(c *enginetest.Counts) int { return c.Ends }) >= 3*hotBatch },
		time.Minute,
		time.Millisecond,
	)
	return e.Watch(false)
}

// otherJobs stores jobs that do not fire.
func otherJobs(t *testing.T, s *persistence.Store) {
	t.Helper()
	later := enginetest.Noon.Add(time.Hour)
	require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		for i := range hotOthers {
			job := enginetest.Job(fmt.Sprintf("later-%03d", i), enginetest.Every(time.Hour))
			job.ID, job.Version, job.Status = fmt.Sprintf("later-%03d", i), 1, entity.JobEnabled
			job.NextFireTime, job.DueTime, job.CreateTime, job.UpdateTime = later, later, enginetest.Noon, enginetest.Noon
			if err := tx.Jobs.Insert(ctx, job); err != nil {
				return err
			}
		}
		return nil
	}))
}

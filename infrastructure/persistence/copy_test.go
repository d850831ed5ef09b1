package persistence_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

// rocket needs four bytes in UTF-8.
const rocket = "Größe 🚀 零 '\\\" %"

// filledRuns are more runs than a batch of a copy holds; so are the jobs of a history.
const filledRuns = 600

// chained is when what is owed came to be.
var chained = time.Date(2026, 7, 1, 12, 0, 0, 5_000_000, time.UTC)

// fillEverything writes rows of every kind, with texts and numbers at their
// edges, through the repositories.
func fillEverything(t *testing.T, s *persistence.Store) {
	t.Helper()
	ctx := t.Context()
	h := fillHistory(t, s, filledRuns)
	at := h.at(0).Add(7 * time.Millisecond)
	var runs []*entity.Execution
	for i, status := range entity.Statuses() {
		e := h.run(5000 + i)
		e.Status, e.Claim, e.ErrorMessage, e.Result, e.Params, e.Checkpoint = status, "", rocket, strings.Repeat("ü", 30_000),
			`{"a":"`+"🚀"+`"}`, "\t"
		e.ShardIndex, e.ShardTotal, e.JobFence, e.NodeLosses, e.CancelRequested, e.Progress = i, 9, 1<<60, 2, true, 50
		e.SkipFrom, e.SkipTo, e.SkipCount, e.SkipAtLeast, e.StartDeadline = at, at.Add(time.Hour), 7, true, at
		e.RetryOf, e.RootID = h.run(1).ID, h.run(2).ID
		runs = append(runs, e)
	}
	runs[0].Claim = entity.CommonQueue.Key(5, at)
	runs[1].Claim, runs[1].NodeID = entity.RunningKey("node-lost"), "node-lost"
	job := h.job(3000)
	job.Name, job.Description, job.Labels, job.Group, job.Owner = rocket, strings.Repeat("🚀", 500),
		map[string]string{"k": rocket}, "Gruppe 零", "wir"
	require.NoError(t, s.Write(ctx, repository.LaneAPI, "fill", func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Jobs.Insert(ctx, job); err != nil {
			return err
		}
		if err := tx.Executions.Insert(ctx, runs); err != nil {
			return err
		}
		if err := tx.InFlightFires.Insert(ctx,
			[]entity.InFlightFire{{
				JobID: job.ID, FireKey: "f", Active: true, Remaining: 2, Seq: 9, Scheduled: true,
				JobVersion: 3, CreateTime: at,
			}}); err != nil {
			return err
		}
		if err := tx.Records.AddAttempts(ctx,
			[]entity.Attempt{{
				ExecutionID: runs[2].ID, Attempt: 1, Status: entity.StatusFailed, Reason: entity.ReasonPanic,
				StartTime: at, ErrorMessage: rocket,
			}}); err != nil {
			return err
		}
		if err := tx.Records.AddUsages(ctx, []entity.AttemptUsage{
			{ExecutionID: runs[2].ID, Attempt: 1, Usage: entity.Usage{CPUMs: 1 << 40, PeakKb: 3}},
			{ExecutionID: runs[0].ID, Attempt: 1, Usage: entity.Usage{CPUMs: 1}}, // it waits for its next attempt
		}); err != nil {
			return err
		}
		if err := tx.Todos.AddTodos(ctx, []entity.Todo{
			{Run: (history{}).run(5002).ID, Kind: entity.TodoNext, Time: chained},
		}); err != nil {
			return err
		}
		if err := tx.Chains.SetNext(ctx, "before", []string{"after"}); err != nil {
			return err
		}
		if err := tx.Records.AddHolds(ctx, []entity.Hold{
			{ExecutionID: runs[2].ID, Attempt: 1, Count: 3, For: time.Minute},
			{ExecutionID: runs[0].ID, Attempt: 1, Count: 1, For: time.Second},
		}); err != nil {
			return err
		}
		if err := tx.Records.AddEvents(ctx,
			[]entity.Event{{
				ID: "e1", Topic: "run", Key: "k", Type: "failed", Payload: rocket, CreateTime: at,
				Readers: entity.EventReaders{Kafka: true},
			}}); err != nil {
			return err
		}
		return tx.Records.AddLogs(ctx, []entity.LogChunk{
			{
				JobID: job.ID, ExecutionID: runs[0].ID, Attempt: 1, Type: entity.LogStdout, SeqFrom: 1, SeqTo: 2,
				Content: rocket + "\nzwei", CreateTime: at,
			},
			{
				JobID: job.ID, ExecutionID: runs[0].ID, Attempt: 1, Type: entity.LogStderr, SeqFrom: 3, SeqTo: 3,
				Content: strings.Repeat("🚀", 250_000), CreateTime: at, Truncated: true,
			},
		})
	}))
	user := entity.User{
		ID: "u-1", Name: "Jürgen 🚀", PasswordHash: "$argon2id$x", Role: entity.RoleAdmin,
		Rights: entity.Rights{Groups: map[string]entity.Role{"Gruppe 零": entity.RoleViewer}, Commands: true}, CreateTime: at,
		UpdateTime: at,
	}
	require.NoError(t, s.AddUser(ctx, user))
	require.NoError(t, s.AddSession(ctx, entity.Session{
		TokenHash: "hash", UserID: user.ID,
		ExpiresAt: at.AddDate(90, 0, 0), CreateTime: at,
	}, 100))
	require.NoError(t, s.AddToken(ctx, entity.Token{
		ID: "t-1", UserID: user.ID, Name: "ci", Hash: "hash 2",
		Scopes: []string{"job:read"}, ExpiresAt: at.AddDate(90, 0, 0), CreateTime: at,
	}, 100))
	require.NoError(t, s.AddSecret(ctx, entity.Secret{
		Name: "db", Description: rocket, KeyID: "k1",
		Sealed: []byte{0, 0xff, '\'', '\\', 0x80}, Version: 1, CreateTime: at, UpdateTime: at,
	}))
	require.NoError(t, s.AddAudit(ctx, entity.AuditEntry{
		ID: h.run(9).ID, Time: at, UserName: rocket, Action: "PUT",
		Status: 200, Changes: `{"name":["a","🚀"]}`,
	}))
	_, err := s.Register(ctx, entity.Node{
		ID: "node-1", IP: "10.0.0.1", Port: 8080, Status: entity.NodeUp,
		Labels: map[string]string{"z": "零"}, CreateTime: at, UpdateTime: at, LastHeartbeat: at,
	})
	require.NoError(t, err)
	_, _, err = s.Begin(ctx, entity.IdempotentCall{Scope: "u-1 POST /jobs", Key: "key", BodyHash: "h", CreateTime: at},
		time.Hour)
	require.NoError(t, err)
	fillStatistics(t, s, at)
}

// everything reads a store through its repositories.
func everything(t *testing.T, s *persistence.Store) map[string]any {
	t.Helper()
	ctx := t.Context()
	out := map[string]any{
		"jobs": whole(t, func(p repository.Page) ([]*entity.Job, string, error) {
			return s.Jobs.List(ctx, repository.JobFilter{}, p)
		}),
		"runs": whole(t, func(p repository.Page) ([]*entity.Execution, string, error) {
			return s.Executions.List(ctx, repository.ExecutionFilter{}, p)
		}),
		"letters": whole(t, func(p repository.Page) ([]entity.DeadLetter, string, error) {
			return s.DeadLetters(ctx, repository.DeadLetterFilter{}, p)
		}),
		"audit": whole(t, func(p repository.Page) ([]entity.AuditEntry, string, error) {
			return s.ListAudit(ctx, repository.AuditFilter{}, p)
		}),
		"users":   whole(t, func(p repository.Page) ([]entity.User, string, error) { return s.ListUsers(ctx, p) }),
		"groups":  whole(t, func(p repository.Page) ([]entity.Group, string, error) { return s.ListGroups(ctx, nil, p) }),
		"tokens":  whole(t, func(p repository.Page) ([]entity.Token, string, error) { return s.ListTokens(ctx, "", p) }),
		"secrets": whole(t, func(p repository.Page) ([]entity.Secret, string, error) { return s.ListSecrets(ctx, nil, p) }),
		"versions": whole(t, func(p repository.Page) ([]*entity.Job, string, error) {
			return s.Jobs.History(ctx, benchJobID(3000), p)
		}),
	}
	out["statistics"] = storedStatistics(t, s)
	var err error
	for name, read := range map[string]func() (any, error){
		"logs":     func() (any, error) { return s.Logs(ctx, repository.LogPage{ExecutionID: (history{}).run(5000).ID}) },
		"session":  func() (any, error) { return s.SessionByHash(ctx, "hash", time.Time{}) },
		"secret":   func() (any, error) { return s.SecretsByName(ctx, []string{"db"}) },
		"nodes":    func() (any, error) { return s.All(ctx) },
		"events":   func() (any, error) { return s.PendingEvents(ctx, entity.ReaderKafka, 0, 100) },
		"replays":  func() (any, error) { return s.Executions.Replays(ctx, []string{(history{}).run(2).ID}) },
		"attempts": func() (any, error) { return s.Executions.Attempts(ctx, (history{}).run(5002).ID) },
		"todos":    func() (any, error) { return s.Todos(ctx, entity.TodoNext, chained.Add(time.Second), 10) },
		"chains":   func() (any, error) { return s.EdgesTo(ctx, []string{"after"}) },
		"holds":    func() (any, error) { return s.Executions.Holds(ctx, []string{(history{}).run(5002).ID}) },
		"usages":   func() (any, error) { return s.Executions.Usages(ctx, (history{}).run(5002).ID) },
	} {
		out[name], err = read()
		require.NoError(t, err, name)
	}
	require.NoError(t, s.Write(ctx, repository.LaneAPI, "read", func(ctx context.Context, tx repository.Tx) error {
		out["live fires"], err = tx.InFlightFires.Oldest(ctx,
			[]repository.Oldest{{JobID: benchJobID(3000), Active: true, Limit: 10}, {JobID: benchJobID(3000), Limit: 10}})
		return err
	}))
	return out
}

// whole reads a list to its end.
func whole[T any](t *testing.T, read func(p repository.Page) ([]T, string, error)) []T {
	t.Helper()
	var out []T
	for p := (repository.Page{Limit: 1000}); ; {
		rows, next, err := read(p)
		require.NoError(t, err)
		out = append(out, rows...)
		if next == "" {
			return out
		}
		p.Cursor = next
	}
}

// standalone is a filled SQLite store that is closed, and an empty database.
func standalone(t *testing.T) (from, to persistence.Config, want map[string]any) {
	t.Helper()
	from, to = dbtest.SQLite(t), dbtest.MySQL(t)
	s, err := persistence.Open(t.Context(), from)
	require.NoError(t, err)
	fillEverything(t, s)
	want = everything(t, s)
	require.NoError(t, s.Close())
	return from, to, want
}

func same(t *testing.T, want, got map[string]any) {
	t.Helper()
	require.Len(t, got, len(want))
	for what := range want {
		require.NotEmpty(t, want[what], what)
		require.Equal(t, want[what], got[what], what)
	}
}

func quiet(storecopy.Progress) {}

func TestACopyHoldsEverything(t *testing.T) {
	dbtest.NeedMySQL(t)
	from, to, want := standalone(t)
	done := map[string]storecopy.Progress{}
	r, err := storecopy.Copy(t.Context(), from.Config, to.Config, func(c storecopy.Progress) { done[c.Table] = c })
	require.NoError(t, err)
	require.EqualValues(t, 1, r.Secrets)
	require.Contains(t, r.Nodes, "node-lost")
	require.Greater(t, r.Rows, int64(filledRuns+historyJobs))
	for table, c := range done {
		require.True(t, c.Verified, table)
		require.Equal(t, c.Rows, c.Done, table)
	}
	same(t, want, everything(t, dbtest.Open(t, to)))
	_, err = storecopy.Copy(t.Context(), from.Config, to.Config, quiet)
	require.ErrorContains(t, err, "holds data", "what was copied is never overwritten")
}

func TestAnInterruptedCopyIsStartedOverAndNotServed(t *testing.T) {
	dbtest.NeedMySQL(t)
	from, to, want := standalone(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := storecopy.Copy(ctx, from.Config, to.Config, func(c storecopy.Progress) {
		if c.Table == "scheduler_job_execution" {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	_, err = persistence.Open(t.Context(), to)
	require.ErrorContains(t, err, "interrupted")
	_, err = storecopy.Copy(t.Context(), from.Config, to.Config, quiet)
	require.NoError(t, err)
	same(t, want, everything(t, dbtest.Open(t, to)))
}

func TestACopyThatDiffersIsNotGood(t *testing.T) {
	dbtest.NeedMySQL(t)
	from, to, _ := standalone(t)
	for _, change := range []string{
		"UPDATE scheduler_job_execution SET token = token + 1 ORDER BY id LIMIT 1",
		"DELETE FROM scheduler_job_execution ORDER BY id LIMIT 1",
		"UPDATE scheduler_job_execution SET progress = NULL WHERE progress = 50 LIMIT 1",
	} {
		db := dbtest.Raw(t, to)
		changed := false
		_, err := storecopy.Copy(t.Context(), from.Config, to.Config, func(c storecopy.Progress) {
			if c.Table == "scheduler_job_execution" && c.Done == c.Rows && !changed {
				changed = true
				_, err := db.ExecContext(t.Context(), change)
				require.NoError(t, err)
			}
		})
		require.ErrorContains(t, err, "scheduler_job_execution differs", change)
		_, err = persistence.Open(t.Context(), to)
		require.ErrorContains(t, err, "interrupted", change)
	}
}

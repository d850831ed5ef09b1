package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// RecordWriter adds the rows that accompany a change, inside its transaction.
// Adding a row whose key exists changes nothing: a transaction whose reply was
// lost is sent again with the same rows.
type RecordWriter interface {
	AddAttempts(ctx context.Context, attempts []entity.Attempt) error
	AddDeadLetters(ctx context.Context, letters []entity.DeadLetter) error
	// MarkReplayed notes the run that a replay made; apperror.KindConflict when
	// the letter was replayed before, apperror.KindNotFound when there is none.
	MarkReplayed(ctx context.Context, executionID, replayID string) error
	// DropDeadLetter removes a letter; apperror.KindNotFound when there is none,
	// apperror.KindConflict when it was replayed.
	DropDeadLetter(ctx context.Context, executionID string) error
	// AddEvents fills the outbox. An event whose id is there is not added twice.
	AddEvents(ctx context.Context, events []entity.Event) error
	AddLogs(ctx context.Context, chunks []entity.LogChunk) error
}

// LogPage is a page of log chunks: those that hold lines after AfterSeq.
type LogPage struct {
	ExecutionID string
	AfterSeq    int64
	Limit       int
}

// DeadLetterFilter narrows dead letters; empty fields do not filter.
type DeadLetterFilter struct {
	JobID  string
	Reason entity.Reason
	// Waiting leaves out those that were replayed.
	Waiting bool
	// Groups are those whose jobs may be seen; nil is all.
	Groups []string
}

// DeadLetterCause is letters of one job that ended for one reason.
type DeadLetterCause struct {
	JobID  string
	Reason entity.Reason
	Count  int
	// Latest is one of the newest letters, as an example.
	Latest entity.DeadLetter
	First  time.Time
}

// RecordReader reads what RecordWriter wrote.
type RecordReader interface {
	// Logs returns chunks in order of their first line.
	Logs(ctx context.Context, p LogPage) ([]entity.LogChunk, error)
	// DeadLetters is ordered by execution id, newest first.
	DeadLetters(ctx context.Context, f DeadLetterFilter, p Page) (letters []entity.DeadLetter, next string, err error)
	// DeadLetterCauses counts the letters that wait for a person, by job and
	// reason, most first, at most limit.
	DeadLetterCauses(ctx context.Context, f DeadLetterFilter, limit int) ([]DeadLetterCause, error)
	DeadLetter(ctx context.Context, executionID string) (entity.DeadLetter, error)
}

// Outbox is read by the relay.
type Outbox interface {
	// PendingEvents returns the oldest events, in order of insertion.
	PendingEvents(ctx context.Context, limit int) ([]entity.Event, error)
	// DropEvents removes events that were published.
	DropEvents(ctx context.Context, ids []string) error
}

// Users keeps users and their sessions.
type Users interface {
	// AddUser adds a user; a name that is taken, in whatever case, is
	// apperror.KindConflict.
	AddUser(ctx context.Context, u entity.User) error
	// UserByName returns apperror.KindNotFound for an unknown name.
	UserByName(ctx context.Context, name string) (entity.User, error)
	UserByID(ctx context.Context, id string) (entity.User, error)
	// SetPassword changes the hash, and ends all sessions of the user and, unless
	// they shall be kept, all API tokens.
	SetPassword(ctx context.Context, userID, hash string, keepTokens bool, at time.Time) error
	CountUsers(ctx context.Context) (int, error)
}

// Sessions keeps signed-in users by the hash of their token.
type Sessions interface {
	// AddSession keeps the latest so many of the user, and ends the others.
	AddSession(ctx context.Context, s entity.Session, most int) error
	// SessionByHash returns apperror.KindNotFound for an unknown or expired one.
	SessionByHash(ctx context.Context, hash string, now time.Time) (entity.Session, error)
	DropSession(ctx context.Context, hash string) error
}

// IdempotentCalls keeps answers to calls that carry an Idempotency-Key.
type IdempotentCalls interface {
	// Begin records the call as in progress, or returns the one that is there
	// (ok false). Calls older than ttl are forgotten first.
	Begin(ctx context.Context, c entity.IdempotentCall,
		ttl time.Duration) (existing entity.IdempotentCall, ok bool, err error)
	// Complete keeps the answer of this call, told from others under its key by
	// its time of creation.
	Complete(ctx context.Context, c entity.IdempotentCall) error
	// Abandon forgets this call, which ended without an answer worth keeping.
	Abandon(ctx context.Context, c entity.IdempotentCall) error
}

// Purged is what one step of a purge came to.
type Purged struct {
	Deleted int
	// More: the step ended at its limit, and the next may find more.
	More bool
	// Reached is the age of the youngest row that was looked at: all older ones are
	// deleted or must stay. Zero where nobody can tell.
	Reached time.Time
}

// Retention deletes old rows in small steps by primary key. Each step reads rows older
// than before and deletes at most limit of them in one short transaction. The next step
// goes on from there.
type Retention interface {
	// PurgeExecutions never touches rows that are not final, or dead letters that wait for
	// a person. It also keeps the root row of a replay while that replay is live.
	PurgeExecutions(ctx context.Context, before time.Time, limit int) (Purged, error)
	PurgeLogs(ctx context.Context, before time.Time, limit int) (Purged, error)
	// PurgeOthers removes expired sessions, idempotent calls and metrics.
	PurgeOthers(ctx context.Context, before time.Time, limit int) (Purged, error)
	// PurgeAudit removes entries of the audit log.
	PurgeAudit(ctx context.Context, before time.Time, limit int) (Purged, error)
	// PurgeBackfills removes backfills that are not ACTIVE.
	PurgeBackfills(ctx context.Context, before time.Time, limit int) (Purged, error)
	// PurgeVersions removes definitions of jobs under former versions, but the newest
	// keep of each job and those that runs name. Of a job with very many runs it keeps
	// those that were replaced since before, too.
	PurgeVersions(ctx context.Context, before time.Time, keep, limit int) (Purged, error)
	// PurgeJobs removes jobs that were deleted before, with their versions, once
	// neither runs nor backfills name them.
	PurgeJobs(ctx context.Context, before time.Time, limit int) (Purged, error)
}

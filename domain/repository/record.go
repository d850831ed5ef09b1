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
	// AddUsages keeps what attempts took.
	AddUsages(ctx context.Context, usages []entity.AttemptUsage) error
	// AddHolds adds to the holds of attempts: call it where a transaction that is sent again writes nothing.
	AddHolds(ctx context.Context, holds []entity.Hold) error
	AddDeadLetters(ctx context.Context, letters []entity.DeadLetter) error
	// MarkReplayed notes the run that a replay made; apperror.KindConflict when
	// the letter was replayed before, apperror.KindNotFound when there is none.
	MarkReplayed(ctx context.Context, executionID, replayID string) error
	// DropDeadLetter removes a letter; apperror.KindNotFound when there is none,
	// apperror.KindConflict when it was replayed.
	DropDeadLetter(ctx context.Context, executionID string) error
	// AddEvents fills the outbox, but for events without readers. An event whose id is
	// there is not added twice.
	AddEvents(ctx context.Context, events []entity.Event) error
	// ClearEvents says that a reader has read these events; with its last reader an
	// event goes. Ids that are not there are passed over.
	ClearEvents(ctx context.Context, reader entity.EventReader, ids []string) error
	// TakeEvents is ClearEvents that returns, in order of insertion, the ids that the reader
	// had not read: two who take the same events cannot both get one.
	TakeEvents(ctx context.Context, reader entity.EventReader, ids []string) (taken []string, err error)
	AddLogs(ctx context.Context, chunks []entity.LogChunk) error
	// SetAside writes down what the store refuses. A row of its kind and id keeps its time and its data.
	SetAside(ctx context.Context, a entity.SetAside) error
	// DropAside forgets those of a kind that are there no more: they were mended.
	DropAside(ctx context.Context, kind entity.AsideKind, ids []string) error
}

// Asides reads what was set aside because the store refuses it.
type Asides interface {
	// ListAsides returns the newest rows, of a kind unless that is empty, at most limit, without their data.
	ListAsides(ctx context.Context, kind entity.AsideKind, limit int) ([]entity.SetAside, error)
	// AsidesOf returns those of a kind that are there, by id, without their data.
	AsidesOf(ctx context.Context, kind entity.AsideKind, ids []string) (map[string]entity.SetAside, error)
	// CountAsides counts the rows by kind.
	CountAsides(ctx context.Context) (map[entity.AsideKind]int, error)
}

// LogEnd is how far the log of an attempt goes: the number of its last line, and about how many bytes it has.
type LogEnd struct {
	ExecutionID string
	Attempt     int
	Line        int64
	Bytes       int
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
	// LogEnds says how far the logs of executions go that the store has, by attempt.
	LogEnds(ctx context.Context, executionIDs []string) ([]LogEnd, error)
	// DeadLetters is ordered by execution id, newest first.
	DeadLetters(ctx context.Context, f DeadLetterFilter, p Page) (letters []entity.DeadLetter, next string, err error)
	// DeadLetterCauses counts the letters that wait for a person, by job and
	// reason, most first, at most limit.
	DeadLetterCauses(ctx context.Context, f DeadLetterFilter, limit int) ([]DeadLetterCause, error)
	DeadLetter(ctx context.Context, executionID string) (entity.DeadLetter, error)
}

// Outbox holds events until each of their readers has read them.
type Outbox interface {
	// PendingEvents returns the oldest events behind the place after that a reader has not
	// read, in order of insertion. A later call may find one before the place: events of
	// transactions that run at once become visible in any order.
	PendingEvents(ctx context.Context, reader entity.EventReader, after int64, limit int) ([]entity.Event, error)
	// ClearEvents is that of RecordWriter, in a transaction of its own.
	ClearEvents(ctx context.Context, reader entity.EventReader, ids []string) error
	// DropOldest clears the oldest events of a reader beyond the newest keep, at most
	// limit of them, and returns how many: what another node clears meanwhile does not count.
	DropOldest(ctx context.Context, reader entity.EventReader, keep, limit int) (dropped int, err error)
	// DropOlder clears the oldest events of a reader as far as they were added before a
	// moment, at most limit of them, and returns how many, as DropOldest does.
	DropOlder(ctx context.Context, reader entity.EventReader, before time.Time, limit int) (dropped int, err error)
}

// NewPassword is another password of a user.
type NewPassword struct {
	Hash string
	// KeepTokens leaves the API tokens as they are.
	KeepTokens bool
	// MustChange: it was not the user who chose it.
	MustChange bool
	// Session is opened in the same transaction, as the only one that the user has then;
	// nil opens none.
	Session *entity.Session
	At      time.Time
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
	SetPassword(ctx context.Context, userID string, p NewPassword) error
	CountUsers(ctx context.Context) (int, error)
}

// Sessions keeps signed-in users by the hash of their token.
type Sessions interface {
	// AddSession keeps the latest so many of the user, and ends the others.
	AddSession(ctx context.Context, s entity.Session, most int) error
	// SessionByHash returns apperror.KindNotFound for an unknown or expired one.
	SessionByHash(ctx context.Context, hash string, now time.Time) (entity.Session, error)
	// SessionUsers are the users of sessions by the hash of their token. Unknown and
	// expired ones are left out, and those whose user cannot be read.
	SessionUsers(ctx context.Context, hashes []string, now time.Time) (map[string]entity.User, error)
	DropSession(ctx context.Context, hash string) error
	// SessionsOf are those of a user that have not expired, latest first.
	SessionsOf(ctx context.Context, userID string, now time.Time) ([]entity.Session, error)
	// DropSessions ends those of a user but the one with the hash keep, where it is set.
	// It returns how many ended.
	DropSessions(ctx context.Context, userID, keep string) (int, error)
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
	// PurgeMetrics removes rows of time series that stand for the given period.
	PurgeMetrics(ctx context.Context, period time.Duration, before time.Time, limit int) (Purged, error)
	// PurgeOthers removes expired sessions and idempotent calls.
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
	// PurgeAsides removes what was set aside.
	PurgeAsides(ctx context.Context, before time.Time, limit int) (Purged, error)
}

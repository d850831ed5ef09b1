package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// BinaryID is an id of 16 bytes.
type BinaryID = [16]byte

// Fold is the batch of digests that is being added up. The zero value is that before
// the first one.
type Fold struct {
	// Seq is the number of the batch that is open, or of the last one that was.
	Seq int64
	// IDs are the digests of the batch that is open; empty: none is.
	IDs []BinaryID
	// Scopes: the rows of scopes have the batch that is open.
	Scopes bool
	// Until is the moment of the youngest digest that was added up; zero: none was.
	Until time.Time
	// Whole: each end that is stored has a digest, or had one that was added up. Else those from LackingSince on may lack
	// one, as nodes of the former release write none; zero: those of any time.
	Whole        bool
	LackingSince time.Time
	// Noted is how many ends are noted as counted.
	Noted int64
}

// NotedEnds are the prints of the ends of one batch that were added up while ends may have lacked digests.
type NotedEnds struct {
	Seq    int64
	Prints []uint64
}

// EndCursor is a place in the order of jobs, and of executions within a job.
type EndCursor struct{ JobID, ID string }

// Digest is a stored digest.
type Digest struct {
	ID   BinaryID
	Time time.Time
	Data []byte
}

// DigestHead tells of a digest without its data.
type DigestHead struct {
	ID   BinaryID
	Time time.Time
	Ends int
}

// SumKey names a stored row of sums: of a job where Kind is empty, else of a scope.
type SumKey struct {
	Period statistics.Period
	// Start is when the period begins, in milliseconds since 1970.
	Start int64
	Job   BinaryID
	Kind  statistics.Kind
	Name  string
}

// StoredBaseline is what is usual for a job, as it is stored.
type StoredBaseline struct {
	Job  BinaryID
	Data []byte
	// FoldSeq is the number of the last batch that it has learned from.
	FoldSeq int64
}

// FireKey names a fire with shards: the hash is that of a statistics.End.
type FireKey struct {
	Job  BinaryID
	Fire uint64
}

// OpenFire is a fire with shards of which not all have ended, as it is stored.
type OpenFire struct {
	FireKey
	// Opened is when its first shard was added up.
	Opened time.Time
	Data   []byte
	// FoldSeq is the number of the last batch that it has shards of.
	FoldSeq int64
}

// StatisticsWriter stores digests and what they add up to, inside a transaction.
// A caller that changes anything but digests locks the fold first, so that only one
// transaction at a time does.
type StatisticsWriter interface {
	// AddDigests stores what ends are added up from, at now by the store's clock.
	AddDigests(ctx context.Context, now time.Time, digests []statistics.Digest) error
	// LockFold reads the row of the fold and locks it until the transaction ends.
	LockFold(ctx context.Context) (Fold, error)
	SaveFold(ctx context.Context, f Fold) error
	// OldestDigests are the first ones by id, at most limit.
	OldestDigests(ctx context.Context, limit int) ([]DigestHead, error)
	DropDigests(ctx context.Context, ids []BinaryID) error
	// NoteEnds notes what a batch has added up. DropNotes forgets the oldest notes, at most limit, and returns how many.
	NoteEnds(ctx context.Context, n NotedEnds) error
	DropNotes(ctx context.Context, limit int) (int, error)

	// Sums reads those of the rows that exist. Unreadable histograms are empty, and
	// their rows named.
	Sums(ctx context.Context, keys []SumKey) (rows map[SumKey]*statistics.StoredRow, unreadable []SumKey, err error)
	// PutSums adds rows, or writes over those that exist.
	PutSums(ctx context.Context, keys []SumKey, rows map[SumKey]*statistics.StoredRow) error
	DropSums(ctx context.Context, keys []SumKey) error
	// OldSums are the rows of a period that begin before a moment, oldest first, at most
	// limit of jobs and as many of scopes.
	OldSums(ctx context.Context, period statistics.Period, before time.Time, limit int) ([]SumKey, error)

	// Baselines reads those that exist.
	Baselines(ctx context.Context, jobs []BinaryID) (map[BinaryID]StoredBaseline, error)
	PutBaselines(ctx context.Context, baselines []StoredBaseline) error

	// OpenFires reads those that exist.
	OpenFires(ctx context.Context, keys []FireKey) (map[FireKey]OpenFire, error)
	PutOpenFires(ctx context.Context, fires []OpenFire) error
	DropOpenFires(ctx context.Context, keys []FireKey) error
}

// DigestReader reads for the fold, outside of transactions.
type DigestReader interface {
	// FoldState reads the row of the fold without a lock.
	FoldState(ctx context.Context) (Fold, error)
	// Digests reads those that exist.
	Digests(ctx context.Context, ids []BinaryID) ([]Digest, error)
	// DigestsSince are when the oldest and the youngest digest were made; false: there
	// is none.
	DigestsSince(ctx context.Context) (oldest, youngest time.Time, ok bool, err error)
	// GroupsOf are the groups of those jobs that exist, deleted ones among them.
	GroupsOf(ctx context.Context, jobs []BinaryID) (map[BinaryID]string, error)
	// OpenedBefore are fires with shards that were opened before a moment, at most limit.
	OpenedBefore(ctx context.Context, before time.Time, limit int) ([]FireKey, error)
}

// FinalReader reads executions for those who look for ends that lack a digest.
type FinalReader interface {
	// FinalAfter are final executions behind a place that ended at since or later, in that order, at most limit, with
	// what statistics.EndOf reads.
	FinalAfter(ctx context.Context, after EndCursor, since time.Time, limit int) ([]*entity.Execution, error)
}

// EndsReader reads for those who look for ends that lack a digest.
type EndsReader interface {
	// FoldState: see DigestReader.
	FoldState(ctx context.Context) (Fold, error)
	// DigestsAfter are digests in the order of their ids.
	DigestsAfter(ctx context.Context, id BinaryID, limit int) ([]Digest, error)
	// NotesAfter are notes in the order of their batches.
	NotesAfter(ctx context.Context, seq int64, limit int) ([]NotedEnds, error)
}

// BaselineReader reads what is usual for jobs, for the nodes that run them.
type BaselineReader interface {
	// BaselinesOf reads those that exist, in no order, without a lock.
	BaselinesOf(ctx context.Context, jobs []BinaryID) (map[BinaryID]StoredBaseline, error)
}

// SumsQuery asks for the rows of one job, or of scopes of one kind.
type SumsQuery struct {
	// Job is asked for where Kind is empty, else the scopes of these Names.
	Job   BinaryID
	Kind  statistics.Kind
	Names []string
	// Hours and Days say which rows of each period.
	Hours, Days statistics.Interval
}

// SumRow is a stored row of sums.
type SumRow struct {
	SumKey
	Row *statistics.Row
}

// TopColumn is what jobs are compared by.
type TopColumn string

// The columns. Failures are those that FAILED, timed out or are DEAD; Duration is the
// time that all runs took together.
const (
	TopFailures TopColumn = "failures"
	TopRuns     TopColumn = "runs"
	TopDuration TopColumn = "duration"
	TopLate     TopColumn = "late"
	TopSkipped  TopColumn = "skipped"
	TopRetries  TopColumn = "retries"
)

// JobTotal is what the rows of a job add up to, without histograms.
type JobTotal struct {
	Job                                       BinaryID
	Runs, Success, Failures, Skipped, Retries int64
	DurationMs, LateRuns                      int64
}

// StatisticsReader reads for the API. Each call reads one snapshot, so that rows that
// are merged meanwhile count once.
type StatisticsReader interface {
	// SumRows are those of hours first, and each in the order of their start. Histograms that cannot be read are empty.
	SumRows(ctx context.Context, q SumsQuery) ([]SumRow, error)
	// TopJobs are those of which a column is not 0, the greatest first, at most limit.
	TopJobs(ctx context.Context, by TopColumn, hours, days statistics.Interval, limit int) ([]BinaryID, error)
	// JobTotals are those of jobs, the greatest of a column first; what has no row is left out.
	JobTotals(ctx context.Context, jobs []BinaryID, by TopColumn, hours, days statistics.Interval) ([]JobTotal, error)
	// DigestsSince, FoldState: see DigestReader.
	DigestsSince(ctx context.Context) (oldest, youngest time.Time, ok bool, err error)
	FoldState(ctx context.Context) (Fold, error)
	// GroupsOf: see DigestReader.
	GroupsOf(ctx context.Context, jobs []BinaryID) (map[BinaryID]string, error)
}

package entity

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// BackfillStatus is the state of a backfill.
type BackfillStatus string

// The states. The last two are final.
const (
	// BackfillActive: times are still to be run, or runs are not over.
	BackfillActive BackfillStatus = "ACTIVE"
	// BackfillDone: every time is decided and every run is over.
	BackfillDone BackfillStatus = "DONE"
	// BackfillCancelled: somebody ended it, or the job was deleted. The runs that it
	// had started go on.
	BackfillCancelled BackfillStatus = "CANCELLED"
)

// Backfill runs the scheduled times of a job in a past range [From, To), in
// order and each once.
type Backfill struct {
	// ID is a UUID of version 7: ids sort by creation.
	ID       string
	JobID    string
	From, To time.Time
	// Schedule is that of the job when the backfill was asked for: it says which
	// times there are, also when the job is edited meanwhile.
	Schedule schedule.Spec
	// Cursor is the first moment that is not decided: every time before it was
	// started or left out.
	Cursor time.Time
	// MaxParallel bounds the fires that are live at once.
	MaxParallel int
	// IncludeFailed: it also runs the times again whose fires failed and were not made good.
	IncludeFailed bool
	Status        BackfillStatus
	// Total counts the times of the range; AlreadyRun those of them that had
	// run, counted when it was asked for and again when it is done; Started
	// those that it made runs of.
	Total, AlreadyRun, Started int
	// Open are the times that it started and that were not seen to be over.
	Open []time.Time
	// User is the name of who asked for it.
	User       string
	Version    int
	CreateTime time.Time
	UpdateTime time.Time
	// Unreadable says what of the stored row cannot be read; empty is nothing. It
	// does not go on then.
	Unreadable string
}

package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// SpanCount is how many rows of a span count; Cut says that there may be more.
type SpanCount struct {
	N   int
	Cut bool
}

// Counts counts rows for an overview. groups are those whose jobs count; nil
// is all. But for CountJobs, at most limit rows are looked at; cut says that
// there may be more, so that the count is a lower bound.
type Counts interface {
	// CountJobs counts by status. It reads every job: keep what it returns.
	CountJobs(ctx context.Context, groups []string) (map[entity.JobStatus]int, error)
	// CountRuns counts the newest runs whose id names a moment from since on.
	CountRuns(ctx context.Context, since time.Time, groups []string,
		limit int) (counts map[entity.Status]int, cut bool, err error)
	// CountClaims counts rows of the claim index, in the order of the spans. It looks at limit
	// rows of each of them.
	CountClaims(ctx context.Context, spans []entity.ClaimSpan, groups []string, limit int) ([]SpanCount, error)
	// CountLetters counts those of the newest dead letters that wait for a person.
	CountLetters(ctx context.Context, groups []string, limit int) (n int, cut bool, err error)
}

package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// MetricQuery asks for the rows of one series in [From, To).
type MetricQuery struct {
	Name     string
	Period   time.Duration
	From, To time.Time
	// NodeID and Group narrow; empty is all. Groups are those that may be seen, nil all.
	NodeID, Group string
	Groups        []string
	// ByNode keeps the nodes apart; otherwise the rows of one time are one row.
	ByNode bool
	// Limit bounds the rows of the answer.
	Limit int
}

// MetricRows keeps time series.
type MetricRows interface {
	// PutMetrics writes rows. A row that is there already is replaced. It writes at most 200 rows a transaction, so after
	// an error some rows may be written; a repetition completes them.
	PutMetrics(ctx context.Context, rows []series.Row) error
	// ReadMetrics returns rows by time and node.
	ReadMetrics(ctx context.Context, q MetricQuery) ([]series.Row, error)
	// MergedMetrics merges the rows of a series with the given period in [from, to): one row for each node and group. The
	// rows returned have no time and no period.
	MergedMetrics(ctx context.Context, name string, period time.Duration, from, to time.Time) ([]series.Row, error)
	// MetricsSpan returns the times of the oldest and the newest row of a period; zero times without rows.
	MetricsSpan(ctx context.Context, period time.Duration) (oldest, newest time.Time, err error)
}

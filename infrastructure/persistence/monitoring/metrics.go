// Package monitoring keeps what nodes measure and what ends of executions add up to.
package monitoring

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// MetricTable keeps time series: repository.MetricRows.
type MetricTable struct{ s *sqldb.Core }

// NewMetricTable gives the repository over the connections of s.
func NewMetricTable(s *sqldb.Core) *MetricTable { return &MetricTable{s} }

const (
	// metricsBatch bounds the rows of one transaction.
	metricsBatch  = 200
	metricColumns = "id, metric_name, metric_value, dimensions, collect_time, create_time, period, dim_hash, node_id, " +
		"group_name, samples, sum_value, min_value, max_value"
	metricWidth = 14
)

// dimensions are what a row is about, for people who read the table.
type dimensions struct {
	NodeID string `json:"nodeId,omitempty"`
	Group  string `json:"group,omitempty"`
}

// PutMetrics implements repository.MetricRows.
func (r *MetricTable) PutMetrics(ctx context.Context, rows []series.Row) error {
	replace := r.s.Dialect.OnDuplicateSet("id", "metric_value", "create_time", "samples", "sum_value", "min_value",
		"max_value")
	kinds := series.NewCatalogue()
	for part := range slices.Chunk(rows, metricsBatch) {
		err := r.s.Change(ctx, repository.LaneLogs, "put-metrics", func(ctx context.Context, c *sqldb.Conn) error {
			now, err := c.StoreTime(ctx)
			if err != nil {
				return err
			}
			written := sqlvalue.TimeText(now)
			return bulk.Insert(ctx, c, "metrics.put", "scheduler_metrics ("+metricColumns+")", metricWidth, replace, part,
				func(args []any, row series.Row) []any {
					def, _ := kinds.Find(row.Name)
					about, _ := json.Marshal(dimensions{row.NodeID, row.Group}) // two strings always can be
					return append(args, row.ID(), row.Name, bounded(row.Value(def.Kind)), string(about),
						sqlvalue.TimeText(row.Time), written, int64(row.Period/time.Second), row.DimHash(), row.NodeID, row.Group,
						row.Samples, row.Sum, row.Min, row.Max)
				})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bounded keeps a value within DECIMAL(20,4).
func bounded(v float64) float64 { return min(max(v, -9e15), 9e15) }

// ReadMetrics implements repository.MetricRows.
func (r *MetricTable) ReadMetrics(ctx context.Context, q repository.MetricQuery) ([]series.Row, error) {
	node, by := "''", ""
	if q.ByNode {
		node, by = "node_id", ", node_id"
	}
	where := []string{"period = ?", "metric_name = ?", "collect_time >= ?", "collect_time < ?"}
	args := []any{int64(q.Period / time.Second), q.Name, sqlvalue.TimeText(q.From), sqlvalue.TimeText(q.To)}
	if q.NodeID != "" {
		where, args = append(where, "node_id = ?"), append(args, q.NodeID)
	}
	if q.Group != "" {
		where, args = append(where, "group_name = ?"), append(args, q.Group)
	}
	if q.Groups != nil {
		in, list := r.s.Dialect.In("group_name", q.Groups)
		if len(q.Groups) == 0 {
			return nil, nil
		}
		where, args = append(where, in), append(args, list...)
	}
	return sqldb.Collect(ctx, r.s.Pool, "metrics.read", `SELECT collect_time, `+node+`, '', SUM(samples), SUM(sum_value),
		SUM(min_value), SUM(max_value) FROM scheduler_metrics WHERE `+strings.Join(where, " AND ")+
		" GROUP BY collect_time"+by+" ORDER BY collect_time"+by+" LIMIT ?", append(args, q.Limit),
		func(rows *sql.Rows) (row series.Row, err error) {
			var at sqlvalue.DBTime
			err = rows.Scan(&at, &row.NodeID, &row.Group, &row.Samples, &row.Sum, &row.Min, &row.Max)
			row.Name, row.Period, row.Time = q.Name, q.Period, at.Time()
			return row, err
		})
}

// MergedMetrics implements repository.MetricRows.
func (r *MetricTable) MergedMetrics(ctx context.Context, name string, period time.Duration,
	from, to time.Time,
) ([]series.Row, error) {
	return sqldb.Collect(ctx, r.s.Pool, "metrics.merge", `SELECT node_id, group_name, SUM(samples), SUM(sum_value),
		MIN(min_value), MAX(max_value) FROM scheduler_metrics WHERE period = ? AND metric_name = ? AND collect_time >= ?
		AND collect_time < ? AND samples > 0 GROUP BY node_id, group_name`,
		[]any{int64(period / time.Second), name, sqlvalue.TimeText(from), sqlvalue.TimeText(to)},
		func(rows *sql.Rows) (row series.Row, err error) {
			row.Name = name
			return row, rows.Scan(&row.NodeID, &row.Group, &row.Samples, &row.Sum, &row.Min, &row.Max)
		})
}

// MetricsSpan implements repository.MetricRows.
func (r *MetricTable) MetricsSpan(ctx context.Context, period time.Duration) (oldest, newest time.Time, err error) {
	type span struct{ oldest, newest sqlvalue.DBTime }
	found, _, err := sqldb.First(ctx, r.s.Pool, "metrics.span",
		"SELECT MIN(collect_time), MAX(collect_time) FROM scheduler_metrics WHERE period = ?",
		[]any{int64(period / time.Second)},
		func(rows *sql.Rows) (s span, err error) { return s, rows.Scan(&s.oldest, &s.newest) })
	return found.oldest.Time(), found.newest.Time(), err
}

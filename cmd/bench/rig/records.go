package rig

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Rows reads the runs of the last scratch database, past the product's own
// code; ids are those of the jobs, by number.
func (s *Scratch) Rows(ctx context.Context, ids []string) ([]measure.Row, error) {
	numbers := make(map[string]uint32, len(ids))
	for i, id := range ids {
		numbers[id] = uint32(i)
	}
	const sinceEpoch = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', %s)"
	found, err := s.server.QueryContext(ctx,
		"SELECT job_id, "+fmt.Sprintf(sinceEpoch, "scheduled_time")+" DIV 1000, status, COALESCE("+
			fmt.Sprintf(sinceEpoch, "start_time")+", 0) FROM "+s.database()+".scheduler_job_execution")
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	defer func() { _ = found.Close() }()
	var out []measure.Row
	for found.Next() {
		var job string
		var r measure.Row
		if err := found.Scan(&job, &r.Fire.ScheduledTime, &r.Status, &r.Start); err != nil {
			return nil, fmt.Errorf("read the runs: %w", err)
		}
		number, known := numbers[job]
		if !known {
			return nil, fmt.Errorf("there is a run of the job %s, which is none of the bench", job)
		}
		r.Fire.Job = number
		out = append(out, r)
	}
	return out, found.Err()
}

// NodeStatus is how the registry calls a node.
func (s *Scratch) NodeStatus(ctx context.Context, node string) (out entity.NodeStatus, err error) {
	err = s.server.QueryRowContext(ctx, "SELECT status FROM "+s.database()+".scheduler_node_registry WHERE id = ?", node).
		Scan(&out)
	return out, err
}

// RefusedResults counts late results that the store has refused and kept.
func (s *Scratch) RefusedResults(ctx context.Context) (n int, err error) {
	err = s.server.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+s.database()+".scheduler_job_log WHERE log_type = ?",
		string(entity.LogEvidence)).Scan(&n)
	return n, err
}

// Ping asks the store's server over a connection that is kept apart from those
// of the nodes.
func (s *Scratch) Ping(ctx context.Context) error {
	_, err := s.server.ExecContext(ctx, "DO 1")
	return err
}

package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// row is what the store says of a run.
type row struct {
	fire   fire
	status entity.Status
	// start is the entry of its last attempt, in µs since the epoch.
	start int64
}

// Rows are what the records in the store say of the planned fires.
type Rows struct {
	Rows int `json:"rows"`
	// Missing have no record, Twice more than one or a record of what nobody
	// had planned, Unfinished one that is no success.
	Missing    int `json:"missing"`
	Twice      int `json:"twice"`
	Unfinished int `json:"unfinished"`
	// Stale hold the result of an attempt that had been lost and retried.
	Stale int `json:"stale"`
	// Retried are fires of which more than one attempt was entered, Superseded
	// those of which a former attempt was entered after a later one: by a node
	// that was frozen on the way there and does not know yet. Its result is
	// refused, and targets refuse it by the fencing token.
	Retried    int `json:"retried"`
	Superseded int `json:"superseded"`
}

// check compares records with the plan up to a moment, and with the entries.
func (l *ledger) check(rows []row, until time.Time) *Rows {
	out := &Rows{Retried: l.retried()}
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := map[fire][]sighting{}
	for _, s := range l.starts {
		entries[fire{s.job, s.nominal}] = append(entries[fire{s.job, s.nominal}], s)
	}
	for _, of := range entries {
		if superseded(of) {
			out.Superseded++
		}
	}
	times := map[fire]int{}
	for _, r := range rows {
		if r.fire.nominal >= until.UnixMilli() {
			continue
		}
		out.Rows++
		times[r.fire]++
		switch {
		case times[r.fire] > 1 || !l.planned(r.fire):
			out.Twice++
		case r.status != entity.StatusSuccess:
			out.Unfinished++
		case stale(r.start, entries[r.fire]):
			out.Stale++
		}
	}
	l.each(until, func(f fire) {
		if times[f] == 0 {
			out.Missing++
		}
	})
	return out
}

// last is the entry of the highest attempt.
func last(entries []sighting) sighting {
	return slices.MaxFunc(entries, func(a, b sighting) int { return cmp.Compare(a.attempt, b.attempt) })
}

// superseded reports whether the entry of the highest attempt is not the latest.
func superseded(entries []sighting) bool {
	of := last(entries)
	return slices.ContainsFunc(entries, func(s sighting) bool { return s.at > of.at && s.attempt < of.attempt })
}

// stale reports whether a record of that start is nearer to the entry of a
// former attempt than to that of the last.
func stale(start int64, entries []sighting) bool {
	if len(entries) == 0 {
		return false
	}
	of := last(entries)
	return slices.ContainsFunc(entries, func(s sighting) bool {
		return s.attempt < of.attempt && distance(start, s.at) < distance(start, of.at)
	})
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// rows reads the runs of the last scratch database, past the product's own
// code; ids are those of the jobs, by number.
func (s *scratch) rows(ctx context.Context, ids []string) ([]row, error) {
	numbers := make(map[string]uint32, len(ids))
	for i, id := range ids {
		numbers[id] = uint32(i)
	}
	const sinceEpoch = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', %s)"
	found, err := s.server.QueryContext(ctx, "SELECT job_id, "+fmt.Sprintf(sinceEpoch, "scheduled_time")+" DIV 1000, status, COALESCE("+
		fmt.Sprintf(sinceEpoch, "start_time")+", 0) FROM "+s.database()+".scheduler_job_execution")
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	defer func() { _ = found.Close() }()
	var out []row
	for found.Next() {
		var job string
		var r row
		if err := found.Scan(&job, &r.fire.nominal, &r.status, &r.start); err != nil {
			return nil, fmt.Errorf("read the runs: %w", err)
		}
		number, known := numbers[job]
		if !known {
			return nil, fmt.Errorf("there is a run of the job %s, which is none of the bench", job)
		}
		r.fire.job = number
		out = append(out, r)
	}
	return out, found.Err()
}

// status is how the registry calls a node.
func (s *scratch) status(ctx context.Context, node string) (out entity.NodeStatus, err error) {
	err = s.server.QueryRowContext(ctx, "SELECT status FROM "+s.database()+".scheduler_node_registry WHERE id = ?", node).Scan(&out)
	return out, err
}

// evidence counts late results that the store has refused and kept.
func (s *scratch) evidence(ctx context.Context) (n int, err error) {
	err = s.server.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+s.database()+".scheduler_job_log WHERE log_type = ?", string(entity.LogEvidence)).Scan(&n)
	return n, err
}

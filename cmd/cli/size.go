package cli

import (
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// ofRuns are the tables of which each run takes a part for as long as retention keeps it.
var ofRuns = map[string]bool{
	"scheduler_job_execution": true, "scheduler_execution_attempt": true, "scheduler_execution_replay": true,
	"scheduler_job_log": true, "scheduler_dead_letter": true, "scheduler_execution_usage": true,
	"scheduler_execution_hold": true,
}

// storeSize is what a store takes of the disk.
type storeSize struct {
	Tables []persistence.TableSize `json:"tables"`
	Bytes  int64                   `json:"bytes"`
	// Runs are the runs that are kept, BytesPerRun what each takes of all tables that keep runs; 0 without runs.
	Runs        int64 `json:"runs"`
	BytesPerRun int64 `json:"bytesPerRun"`
}

func (s *session) storeSize(k *remote.Call, store *persistence.Store) error {
	tables, err := store.Sizes(k.Cmd.Context())
	if err != nil {
		return err
	}
	size := storeSize{Tables: tables}
	var kept int64
	for _, t := range tables {
		size.Bytes += t.Bytes
		if ofRuns[t.Table] {
			kept += t.Bytes
		}
		if t.Table == "scheduler_job_execution" {
			size.Runs = t.Rows
		}
	}
	if size.Runs > 0 {
		size.BytesPerRun = kept / size.Runs
	}
	if s.ForPeople() {
		rows := make([][]string, len(tables))
		for i, t := range tables {
			rows[i] = []string{t.Table, strconv.FormatInt(t.Rows, 10), strconv.FormatInt(t.Bytes, 10)}
		}
		s.Rows([]string{"TABLE", "ROWS", "BYTES"}, rows)
	}
	s.Either(size, "%d bytes in all; %d runs of %d bytes each, with their attempts and logs", size.Bytes, size.Runs,
		size.BytesPerRun)
	return nil
}

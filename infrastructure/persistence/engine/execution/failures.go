package execution

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Failures implements repository.FailureReader.
func (r *Executions) Failures(ctx context.Context, f repository.FailureFilter,
	limit int,
) ([]repository.Failure, bool, error) {
	lo, hi := idRange(repository.ExecutionFilter{From: f.From, To: f.To})
	if f.RunID != "" {
		from, to, known := spanOfRun(f.RunID)
		if !known {
			return nil, true, nil
		}
		lo, hi = narrower(lo, hi, from, to)
	}
	steps := noSteps(!f.Steps && f.RunID == "" && len(f.JobIDs) == 0)
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = entity.FailedStatuses()
	}
	failed := listing.Condition{Text: "status IN (" + dialect.Marks(len(statuses)) + ")"}
	for _, status := range statuses {
		failed.Args = append(failed.Args, string(status))
	}
	var ofJobs listing.Condition
	if len(f.JobIDs) > 0 {
		ofJobs.Text, ofJobs.Args = r.c.Dialect.InAny("job_id", sqlvalue.OnlyASCIIIDs(f.JobIDs))
	}
	var budget time.Duration
	if f.Patient {
		budget = repository.PatientLook
	}
	found, next, err := listing.WindowScan[repository.Failure]{
		Conn: r.c, Statement: "failure.window", Table: "scheduler_job_execution", Key: "id",
		Wide: true, Budget: budget,
		Page: func(ctx context.Context, lo, hi string, limit int) ([]repository.Failure, string, error) {
			where, args := listing.JoinConditions(listing.IDBounds("id", lo, hi), failed, ofJobs, steps, stepsOf(f.RunID),
				OfGroups(r.c.Dialect, "job_id", f.Groups))
			rows, err := sqldb.Collect(ctx, r.c, "failure.list",
				"SELECT id, job_id, COALESCE(reason, ''), end_time FROM scheduler_job_execution"+where+
					" ORDER BY id DESC LIMIT ?", append(args, limit+1), scanFailure)
			if err != nil {
				return nil, "", err
			}
			rows, next := listing.CutPage(rows, limit, func(x repository.Failure) string { return x.ExecutionID })
			return rows, next, nil
		},
	}.Run(ctx, lo, hi, limit)
	return found, next == "", err
}

func scanFailure(rows *sql.Rows) (f repository.Failure, err error) {
	var end sqlvalue.DBTime
	err = rows.Scan(&f.ExecutionID, &f.JobID, &f.Reason, &end)
	f.EndTime = end.Time()
	return f, err
}

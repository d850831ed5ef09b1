package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// FailureFilter asks for runs that failed. From and To bound the moment in the id, as in
// an ExecutionFilter.
type FailureFilter struct {
	From, To time.Time
	// Groups are those whose jobs may be seen; nil is all.
	Groups []string
	// JobIDs are the only jobs; none is all.
	JobIDs []string
	// Statuses are of FAILED, TIMEOUT and DEAD; none is all three.
	Statuses []entity.Status
	// Patient looks for up to PatientLook, and not only for as long as a page of a list may take.
	Patient bool
	// Steps keeps inline steps of workflow runs, which are left out where neither JobIDs nor RunID is given.
	Steps bool
	// RunID keeps the executions of the steps of a workflow run.
	RunID string
}

// PatientLook bounds a patient look for failures.
const PatientLook = 10 * time.Second

// Failure is a run that ended FAILED, TIMEOUT or DEAD.
type Failure struct {
	ExecutionID, JobID string
	Reason             entity.Reason
	EndTime            time.Time
}

// FailureReader finds runs that failed.
type FailureReader interface {
	// Failures reads back from the newest run, until limit failures are found or the look
	// has cost what it may. complete is false where it ended before From.
	Failures(ctx context.Context, f FailureFilter, limit int) (found []Failure, complete bool, err error)
}

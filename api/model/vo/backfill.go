package vo

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Backfill is a past range of a job whose planned times are run.
type Backfill struct {
	ID    string `json:"id"`
	JobID string `json:"jobId"`
	From  Time   `json:"from" format:"date-time"`
	To    Time   `json:"to" format:"date-time"`
	// Total counts the planned times of the range. AlreadyRun of them had run
	// and are left out, Started have runs of this backfill.
	Total      int `json:"total"`
	AlreadyRun int `json:"alreadyRun"`
	Started    int `json:"started"`
	// Position is the first moment that is not decided.
	Position    Time                  `json:"position" format:"date-time" extensions:"x-nullable"`
	MaxParallel int                   `json:"maxParallel"`
	Status      entity.BackfillStatus `json:"status"`
	User        string                `json:"user"`
	CreateTime  Time                  `json:"createTime" format:"date-time"`
	UpdateTime  Time                  `json:"updateTime" format:"date-time"`
}

// FromBackfill makes the view of a backfill.
func FromBackfill(b entity.Backfill) Backfill {
	return Backfill{
		ID: b.ID, JobID: b.JobID, From: Time(b.From), To: Time(b.To), Total: b.Total, AlreadyRun: b.AlreadyRun,
		Started:  b.Started,
		Position: Time(b.Cursor), MaxParallel: b.MaxParallel, Status: b.Status, User: b.User,
		CreateTime: Time(b.CreateTime), UpdateTime: Time(b.UpdateTime),
	}
}

// BackfillPlan is what a backfill would do.
type BackfillPlan struct {
	// FireTimes are the first of the times that would run.
	FireTimes []Time `json:"fireTimes" format:"date-time"`
	// AlreadyRunTimes are the first of those that would be left out.
	AlreadyRunTimes []Time `json:"alreadyRunTimes" format:"date-time"`
	// Total counts the planned times of the range, AlreadyRun those of them
	// that would be left out.
	Total      int  `json:"total"`
	AlreadyRun int  `json:"alreadyRun"`
	DryRun     bool `json:"dryRun"`
}

// shownTimes bounds the times of one answer.
const shownTimes = 1000

// FromBackfillPlan makes the view of a plan.
func FromBackfillPlan(times, leftOut []time.Time) BackfillPlan {
	shown := func(all []time.Time) []Time { return Times(all[:min(len(all), shownTimes)]) }
	return BackfillPlan{
		FireTimes: shown(times), AlreadyRunTimes: shown(leftOut), Total: len(times) + len(leftOut),
		AlreadyRun: len(leftOut), DryRun: true,
	}
}

package vo

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
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
	Position    Time `json:"position" format:"date-time" extensions:"x-nullable"`
	MaxParallel int  `json:"maxParallel"`
	// IncludeFailed: times whose fires failed are run again, too.
	IncludeFailed bool                  `json:"includeFailed"`
	Status        entity.BackfillStatus `json:"status"`
	User          string                `json:"user"`
	CreateTime    Time                  `json:"createTime" format:"date-time"`
	UpdateTime    Time                  `json:"updateTime" format:"date-time"`
}

// FromBackfill makes the view of a backfill.
func FromBackfill(b entity.Backfill) Backfill {
	return Backfill{
		ID: b.ID, JobID: b.JobID, From: Time(b.From), To: Time(b.To), Total: b.Total, AlreadyRun: b.AlreadyRun,
		Started: b.Started, Position: Time(b.Cursor), MaxParallel: b.MaxParallel, IncludeFailed: b.IncludeFailed,
		Status: b.Status, User: b.User, CreateTime: Time(b.CreateTime), UpdateTime: Time(b.UpdateTime),
	}
}

// BackfillPlan is what a backfill would do.
type BackfillPlan struct {
	// FireTimes are the first of the times that would run.
	FireTimes []Time `json:"fireTimes" format:"date-time"`
	// FailedTimes are the first of those that would run again because their fires failed.
	FailedTimes []Time `json:"failedTimes" format:"date-time"`
	// AlreadyRunTimes are the first of those that would be left out.
	AlreadyRunTimes []Time `json:"alreadyRunTimes" format:"date-time"`
	// Total counts the planned times of the range, AlreadyRun those of them
	// that would be left out, Failed those of the others whose fires failed.
	Total      int  `json:"total"`
	AlreadyRun int  `json:"alreadyRun"`
	Failed     int  `json:"failed"`
	DryRun     bool `json:"dryRun"`
}

// shownTimes bounds the times of one answer.
const shownTimes = 1000

// FromBackfillPlan makes the view of a plan.
func FromBackfillPlan(p execution.BackfillPlan) BackfillPlan {
	shown := func(all []time.Time) []Time { return Times(all[:min(len(all), shownTimes)]) }
	return BackfillPlan{
		FireTimes: shown(p.Times), FailedTimes: shown(p.Failed), AlreadyRunTimes: shown(p.LeftOut),
		Total: p.Total, AlreadyRun: p.AlreadyRun, Failed: len(p.Failed), DryRun: true,
	}
}

package request

import (
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MaxBulk bounds the objects of one bulk action.
const MaxBulk = 500

// BulkIDs is the body of a bulk action.
type BulkIDs struct {
	// IDs may name an object twice; it is treated once.
	IDs []string `json:"ids"`
}

// BulkLetters is the body of a bulk action on dead letters: ids, or a cause in
// their place.
type BulkLetters struct {
	IDs    []string `json:"ids,omitempty"`
	JobID  string   `json:"jobId,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// BulkTrigger is the body of POST /bulk/jobs/trigger.
type BulkTrigger struct {
	// IDs may name a job twice; it is treated once.
	IDs []string `json:"ids"`
	// Params are given to each; those that a job does not take are its own failure.
	Params rawObject `json:"params,omitempty" swaggertype:"object"`
}

// ReadBulkTrigger reads the body of POST /bulk/jobs/trigger; params is empty or an object.
func ReadBulkTrigger(r *http.Request) (ids []string, params string, err error) {
	body, err := readBody(r, func(body *BulkTrigger, f *faults) {
		body.IDs = f.ids(body.IDs, false)
		if len(body.Params) > maxParams {
			f.add("params", "too_long", "must be at most 64 KiB of JSON")
		}
	})
	return body.IDs, string(body.Params), err
}

// ReadBulk reads the body of a bulk action.
func ReadBulk(r *http.Request) (BulkIDs, error) {
	return readBody(r, func(body *BulkIDs, f *faults) { body.IDs = f.ids(body.IDs, false) })
}

// ReadBulkLetters reads the body of a bulk action on dead letters.
func ReadBulkLetters(r *http.Request) (BulkLetters, error) {
	return readBody(r, func(body *BulkLetters, f *faults) {
		body.IDs = f.ids(body.IDs, body.JobID != "" || body.Reason != "")
	})
}

// ids checks the ids of a bulk action, and returns each once. byCause says that a
// cause was given, which stands in their place.
func (f *faults) ids(given []string, byCause bool) []string {
	ids := slices.Compact(slices.Sorted(slices.Values(given)))
	switch {
	case len(f.list) > 0:
	case given != nil && byCause:
		f.add("ids", "conflict", "give ids, or jobId and reason, not both")
	case byCause:
	case len(ids) == 0:
		f.add("ids", "required", "must name at least one object")
	case len(ids) > MaxBulk:
		f.add("ids", "too_many", "must name at most %d objects; send the rest in another call", MaxBulk)
	}
	return ids
}

// PauseBody is the body of a pause, which may be empty.
type PauseBody struct {
	// Reason is for people, and is shown with the job and in its ledger.
	Reason string `json:"reason,omitempty" maxLength:"500"`
	// Until is when the pause ends by itself; without it, it lasts until somebody
	// resumes.
	Until time.Time `json:"until,omitempty" format:"date-time"`
}

// BulkPause is the body of a bulk pause.
type BulkPause struct {
	BulkIDs
	PauseBody
}

// ReadPause reads the body of a pause, which may be empty; user is the name of
// who asks for it.
func ReadPause(r *http.Request, user string) (entity.Pause, error) {
	body, err := readAnyBody[PauseBody](r, nil)
	return body.pause(user), err
}

// ReadBulkPause reads the body of a bulk pause. A reason that is too long is told
// once, and not for each job.
func ReadBulkPause(r *http.Request, user string) ([]string, entity.Pause, error) {
	body, err := readBody(r, func(body *BulkPause, f *faults) {
		if n := utf8.RuneCountInString(body.Reason); n > entity.MaxPauseReason {
			f.add("reason", "too_long", "has %d characters; at most %d are kept", n, entity.MaxPauseReason)
		}
		body.IDs = f.ids(body.IDs, false)
	})
	return body.IDs, body.pause(user), err
}

func (p *PauseBody) pause(user string) entity.Pause {
	return entity.Pause{User: user, Reason: p.Reason, Until: p.Until}
}

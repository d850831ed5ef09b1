package request

import (
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

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

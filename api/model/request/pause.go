package request

import (
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// PauseBody documents the body of a pause, which may be empty.
type PauseBody struct {
	// Reason is for people, and is shown with the job and in its ledger.
	Reason string `json:"reason,omitempty" maxLength:"500"`
	// Until is when the pause ends by itself; without it, it lasts until somebody
	// resumes.
	Until time.Time `json:"until,omitempty" format:"date-time"`
}

// BulkPause documents the body of a bulk pause.
type BulkPause struct {
	BulkIDs
	PauseBody
}

// ReadPause reads the body of a pause, which may be empty; user is the name of
// who asks for it.
func ReadPause(r *http.Request, user string) (entity.Pause, error) {
	p := entity.Pause{User: user}
	o, err := parse(r, true)
	if err != nil {
		return p, err
	}
	var f faults
	b := newBinder(o, &f)
	b.pause(&p)
	b.close()
	return p, apperror.Invalid(f.list)
}

// ReadBulkPause reads the body of a bulk pause. A reason that is too long is told
// once, and not for each job.
func ReadBulkPause(r *http.Request, user string) ([]string, entity.Pause, error) {
	p := entity.Pause{User: user}
	v, err := readBulk(r, func(b *binder, _ *Bulk) {
		b.pause(&p)
		if n := utf8.RuneCountInString(p.Reason); n > entity.MaxPauseReason {
			b.faults.add("reason", "too_long", "has %d characters; at most %d are kept", n, entity.MaxPauseReason)
		}
	})
	return v.IDs, p, err
}

func (b *binder) pause(p *entity.Pause) {
	b.text("reason", &p.Reason)
	b.time("until", &p.Until)
}

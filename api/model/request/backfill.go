package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// BackfillBody documents the body of POST /jobs/{id}/backfill.
type BackfillBody struct {
	From time.Time `json:"from" format:"date-time"`
	// To is exclusive, and past.
	To     time.Time `json:"to" format:"date-time"`
	DryRun bool      `json:"dryRun,omitempty"`
	// MaxParallel is how many of its runs may be live at once.
	MaxParallel int `json:"maxParallel,omitempty" minimum:"1" maximum:"100" default:"1"`
}

// Backfill reads the body of POST /jobs/{id}/backfill. dryRun asks what would
// run, and runs nothing.
func (r JobReader) Backfill(req *http.Request) (n service.Backfill, dryRun bool, err error) {
	n.MaxParallel = 1
	o, err := parse(req, false)
	if err != nil {
		return n, false, err
	}
	var f faults
	b := newBinder(o, &f)
	b.time("from", &n.From)
	b.time("to", &n.To)
	b.boolean("dryRun", &dryRun)
	integer(b, "maxParallel", &n.MaxParallel)
	b.close()
	return n, dryRun, apperror.Invalid(merge(f.list, n.Validate(r.Now())))
}

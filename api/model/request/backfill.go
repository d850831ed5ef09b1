package request

import (
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
)

// BackfillBody is the body of POST /jobs/{id}/backfill.
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
func (r JobReader) Backfill(req *http.Request) (n execution.Backfill, dryRun bool, err error) {
	body, err := readBody(req, func(body *BackfillBody, f *faults) {
		n = execution.Backfill{From: body.From, To: body.To, MaxParallel: body.MaxParallel}
		f.list = merge(f.list, n.Validate(r.Now()))
	})
	return n, body.DryRun, err
}

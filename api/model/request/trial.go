package request

import (
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// TrialBody is the body of POST /jobs/trial: a draft as POST /jobs takes it, and params for its run.
type TrialBody struct {
	JobBody
	// Params is what ${params.NAME} stands for, at most 64 KiB. Where the draft declares
	// parameters it may name these alone, of their types.
	Params rawObject `json:"params,omitempty" swaggertype:"object"`
}

// Trial reads the body of POST /jobs/trial. The schedule of the draft need not name a time to come.
func (r JobReader) Trial(req *http.Request) (job *entity.Job, params string, err error) {
	o, err := parse(req, false)
	if err != nil {
		return nil, "", err
	}
	var f faults
	body := bind[TrialBody](newBinder(o, &f))
	if len(body.Params) > maxParams {
		f.add("params", "too_long", "must be at most 64 KiB of JSON")
	}
	job = body.job(r.TimeZone)
	if err = r.check(job, &f, r.Now()); onlyPast(err) {
		err = nil
	}
	return job, string(body.Params), err
}

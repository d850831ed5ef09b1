package request

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// JobChecker checks the part of a definition that its executor reads.
type JobChecker interface {
	Check(job *entity.Job) []apperror.Field
}

// JobReader reads definitions from requests. It is safe for concurrent use if
// its parts are.
type JobReader struct {
	// TimeZone is given to schedules that name none.
	TimeZone string
	// Checker adds what the executor finds wrong; nil adds nothing.
	Checker JobChecker
	// Now is the time that "in the past" refers to.
	Now func() time.Time
}

// JobInput is a job that somebody makes.
type JobInput struct {
	Job     *entity.Job
	Enabled bool
}

// Create reads the body of POST /jobs.
func (r JobReader) Create(req *http.Request) (JobInput, error) {
	o, err := parse(req, false)
	if err != nil {
		return JobInput{}, err
	}
	return r.create(o)
}

// Read reads a job from the text of a body of POST /jobs.
func (r JobReader) Read(ctx context.Context, body []byte) (JobInput, error) {
	o, err := decode(ctx, body, maxBodyValues)
	if err != nil {
		return JobInput{}, err
	}
	return r.create(o)
}

func (r JobReader) create(o *object) (JobInput, error) {
	var f faults
	b := newBinder(o, &f)
	body := bind[JobBody](b)
	in := JobInput{Job: body.job(r.TimeZone), Enabled: or(body.Enabled, true)}
	return in, r.check(in.Job, b, r.Now())
}

// JobEdit is what somebody makes of a job. Version is 0 when it was not given,
// and GroupGiven false where the job stays in its group.
type JobEdit struct {
	Job        *entity.Job
	Version    int
	GroupGiven bool
}

// Replace reads the body of PUT /jobs/{id}; versionElsewhere says that an
// If-Match header names the version, so that the body need not.
func (r JobReader) Replace(req *http.Request, versionElsewhere bool) (JobEdit, error) {
	o, err := parse(req, false)
	if err != nil {
		return JobEdit{}, err
	}
	var f faults
	b := newBinder(o, &f)
	body := bind[JobChange](b)
	edit := JobEdit{Job: body.job(r.TimeZone), Version: or(body.Version, 0), GroupGiven: body.Group != nil}
	switch given := o.fields["version"] != nil; {
	case !given && !versionElsewhere:
		f.add("version", "required", "send the version that was edited, or If-Match with its ETag")
	case given && edit.Version < 1 && !f.has("version"):
		f.add("version", "out_of_range", "must be the version that was read, from 1")
	}
	err = r.check(edit.Job, b, r.Now())
	if onlyPast(err) {
		// Whether a past schedule is the one the job already had, and may
		// stay, is known to the service alone.
		err = nil
	}
	return edit, err
}

// onlyPast reports that nothing is wrong but that the schedule names no time
// to come.
func onlyPast(err error) bool {
	var invalid *apperror.Error
	if !errors.As(err, &invalid) || invalid.Kind != apperror.KindInvalid {
		return false
	}
	return !slices.ContainsFunc(invalid.Fields, func(f apperror.Field) bool { return !past(f) })
}

// past reports that a field is wrong only in naming no time to come.
func past(f apperror.Field) bool {
	return f.Code == schedule.CodeInPast || f.Code == schedule.CodeNeverFires
}

// check joins the findings of binding and validation.
func (r JobReader) check(job *entity.Job, b *binder, now time.Time) error {
	var steps *wf.Definition
	if job.Type == entity.JobWorkflow {
		steps = bindSteps(b, job.TimeoutSec)
	}
	found := r.checked(job, steps, b, now)
	return apperror.Invalid(merge(b.faults.list, found))
}

// findings is what is wrong with a definition once it is bound; base is its place in the body.
func (r JobReader) findings(job *entity.Job, base string, now time.Time) []apperror.Field {
	found := validation.Job(job, now)
	if r.Checker != nil {
		found = merge(found, r.Checker.Check(job))
	}
	// The executor knows the fields of jobData alone.
	for i, f := range found {
		name, inData := strings.CutPrefix(f.Field, "jobData.")
		if f.Code != codeUnknownField || !inData {
			continue
		}
		if remedy := placesOf(reflect.TypeFor[JobBody]()).remedy(base, join(base, "jobData"), name); remedy != "" {
			found[i].Message = "is not a field here; " + remedy
		}
	}
	return found
}

// FormerCommand is the former name of entity.JobCommand, which is still taken.
const FormerCommand entity.JobType = "CRON"

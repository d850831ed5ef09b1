package job

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// NextFireTimes previews the next fires of a job, as it is planned now, and
// describes its schedule.
func (s *JobService) NextFireTimes(ctx context.Context, id string, count int,
	in schedule.Language,
) (times []time.Time, description string, err error) {
	job, err := s.Jobs.Get(ctx, id)
	if err != nil {
		return nil, "", err
	}
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		// It was readable once; a zone may be gone from the system since.
		return nil, err.Error(), nil //nolint:nilerr // the description says so
	}
	description = sched.Describe(in)
	if job.Status != entity.JobEnabled || job.NextFireTime.IsZero() {
		return nil, description, nil
	}
	times = []time.Time{job.NextFireTime}
	if count > 1 && job.Schedule.Kind != schedule.FixedDelay {
		times = append(times, sched.Preview(job.NextFireTime, count-1)...)
	}
	return times, description, nil
}

// Preview gives the fires of a schedule that is not stored, and describes it.
func (s *JobService) Preview(_ context.Context, spec schedule.Spec, from time.Time, count int,
	in schedule.Language,
) ([]time.Time, string, error) {
	if spec.TimeZone == "" {
		spec.TimeZone = s.TimeZone
	}
	if from.IsZero() {
		from = s.Clock.Now()
	}
	spec.Anchor = from
	var fields []apperror.Field
	for _, f := range schedule.Validate(spec, from) {
		fields = append(fields, apperror.Field(f))
	}
	if err := apperror.Invalid(fields); err != nil {
		return nil, "", err
	}
	sched, err := s.Schedules.Compile(spec)
	if err != nil {
		return nil, "", apperror.InvalidField("schedule", "invalid", err.Error())
	}
	return sched.Preview(from, count), sched.Describe(in), nil
}

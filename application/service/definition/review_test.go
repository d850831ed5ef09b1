package definition_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// shelf holds jobs, twenty a page.
type shelf struct {
	jobs []*entity.Job
	err  error
}

func (s *shelf) List(_ context.Context, f repository.JobFilter, p repository.Page) ([]*entity.Job, string, error) {
	at := 0
	_, _ = fmt.Sscanf(p.Cursor, "%d", &at)
	if s.err != nil && at > 0 || f.Type != entity.JobCommand {
		return nil, "", s.err
	}
	page := s.jobs[at:min(at+20, len(s.jobs))]
	if at+20 >= len(s.jobs) {
		return page, "", nil
	}
	return page, fmt.Sprint(at + 20), nil
}

// badData refuses jobs whose data says so.
type badData struct{}

func (badData) Check(job *entity.Job) []apperror.Field {
	if job.Data == "bad" {
		return []apperror.Field{{Field: "jobData.command[2]", Code: "not_allowed", Message: "must not hold ${params.day}"}}
	}
	return nil
}

// An upgrade tells which jobs fail from now on, and why.
func TestDefinitionsOfOlderRulesAreNamed(t *testing.T) {
	var log bytes.Buffer
	s := &shelf{}
	for i := range 61 {
		data := "bad"
		if i == 3 {
			data = "good"
		}
		s.jobs = append(s.jobs, &entity.Job{
			ID: fmt.Sprintf("id-%d", i), Name: fmt.Sprintf("job-%d", i), Group: "g",
			Data: data,
		})
	}
	review := definition.NewDefinitionReview(s, badData{}, clock.NewSystem(), slog.New(slog.NewTextHandler(&log, nil)))
	review.Run(t.Context())
	require.Equal(t, 50, strings.Count(log.String(), "edit the job"))
	require.Contains(t, log.String(),
		`job=job-0 group=g id=id-0 field=jobData.command[2] reason="must not hold ${params.day}"`)
	require.NotContains(t, log.String(), "job=job-3 ")
	require.Contains(t, log.String(), "jobs=60")

	log.Reset()
	s.jobs = s.jobs[3:4]
	review.Run(t.Context())
	require.Empty(t, log.String(), "nothing to say")

	log.Reset()
	for range 20 {
		s.jobs = append(s.jobs, s.jobs[0])
	}
	s.err = errors.New("away")
	review.Run(t.Context())
	require.Contains(t, log.String(), "not reviewed to the end")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	review.Run(ctx)
}

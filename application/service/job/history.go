package job

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// History is a page of a job's versions, newest first.
func (s *JobService) History(ctx context.Context, id string, p repository.Page) ([]*entity.Job, string, error) {
	job, err := s.Jobs.Get(ctx, id)
	if err != nil {
		return nil, "", err
	}
	versions, next, err := s.Jobs.History(ctx, id, p)
	if err != nil {
		return nil, "", err
	}
	for _, v := range versions {
		v.CreateTime = job.CreateTime // of the job, which every version shares
	}
	return versions, next, s.NameNext(ctx, versions...)
}

// Version returns the definition of a job as it was under a version. A caller who puts it
// back makes an ordinary edit, under today's rules.
func (s *JobService) Version(ctx context.Context, id string, version int) (*entity.Job, error) {
	job, err := s.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	former, err := s.Jobs.Version(ctx, id, version)
	if err != nil {
		return nil, err
	}
	former.CreateTime = job.CreateTime
	return former, readable(former)
}

// Copy makes a new job of a job's definition. It has no plan until a user enables it. An
// empty name is the old one, marked as a copy.
func (s *JobService) Copy(ctx context.Context, id, name, group string) (*entity.Job, error) {
	job, err := s.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := readable(job); err != nil {
		return nil, err
	}
	copied := *job
	if group != "" {
		copied.Group = group
	}
	copied.Name = name
	if name == "" {
		copied.Name = copyName(job.Name)
	}
	copied.ClearCursor()
	copied.LastFireTime, copied.PausedAt = time.Time{}, time.Time{}
	return s.Create(ctx, &copied, false)
}

// copyName marks a name as a copy, within the bound on names.
func copyName(name string) string {
	const mark = " (copy)"
	for utf8.RuneCountInString(name)+len(mark) > validation.MaxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + mark
}

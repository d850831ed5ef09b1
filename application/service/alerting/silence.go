package alerting

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// NewSilenceService manages silences. One without a begin begins at once, and one without
// a name gets one. Silences that are over go when there is no room for others.
func NewSilenceService(d Deps) *SilenceService {
	return &SilenceService{d, kind[*alert.Silence]{
		of: alert.KindSilence, most: bounds.MostSilences,
		keep: func(former, next *alert.Silence, now time.Time) {
			if former != nil {
				next.By = former.By
			}
			switch {
			case !next.From.IsZero():
			case former != nil:
				next.From = former.From
			default:
				next.From = now
			}
			if next.Name == "" {
				next.Name = "silence " + next.ID
			}
		},
		check: func(_ context.Context, _, next *alert.Silence, now time.Time) ([]apperror.Field, error) {
			return rules.ValidateSilence(next, now), nil
		},
		room: d.dropOldSilences, warn: d.warnSilence,
	}}
}

// dropOldSilences deletes the silences that are over.
func (d Deps) dropOldSilences(ctx context.Context) error {
	all, err := d.Settings.AlertSettings(ctx, []alert.Kind{alert.KindSilence}, bounds.Settings)
	if err != nil {
		return err
	}
	now := d.Clock.Now()
	for _, s := range all {
		v, err := alert.Read[alert.Silence](s)
		if err != nil || v.To.After(now) {
			continue // one that cannot be read may hold
		}
		err = d.Settings.DropAlertSetting(ctx, alert.KindSilence, s.ID, s.Version)
		if err != nil && !apperror.Is(err, apperror.KindConflict) && !apperror.Is(err, apperror.KindNotFound) {
			return err
		}
	}
	return nil
}

// maxWarned is how many groups a warning looks for a job in: where there are more, there is no warning.
const maxWarned = 1000

// warnSilence names the missing jobs and groups of a silence. A user may make a silence before its job, so this is no
// error.
func (d Deps) warnSilence(ctx context.Context, s *alert.Silence) error {
	s.Warnings = nil
	group, named := s.Match["group"]
	warn := func(field, code, format string, args ...any) {
		s.Warnings = append(s.Warnings, apperror.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if named {
		_, err := d.Groups.Group(ctx, group)
		switch {
		case s.Group != "" && s.Group != group:
			warn("match.group", "never_matches", "is not %s, and the silence holds back alerts of that group alone: "+
				"leave the label out", s.Group)
			return nil
		case apperror.Is(err, apperror.KindNotFound):
			warn("match.group", "unknown_group", "is the name of no group, so that the silence holds nothing back: "+
				"names are compared letter by letter")
			return nil
		case err != nil:
			return fmt.Errorf("look up the group that a silence names: %w", err)
		}
	}
	job, about := s.Match["job"]
	if !about {
		return nil
	}
	if s.Group != "" {
		group = s.Group
	}
	known, err := d.someJob(ctx, group, job)
	if err == nil && !known {
		where := ""
		if group != "" {
			where = " in the group " + group
		}
		warn("match.job", "unknown_job", "is the name of no job%s, so that the silence holds nothing back: "+
			"names are compared letter by letter", where)
	}
	return err
}

// someJob reports whether a job has the name, in a group or, without one, in any.
func (d Deps) someJob(ctx context.Context, group, job string) (bool, error) {
	names := []repository.JobName{{Group: group, Name: job}}
	if group == "" {
		names = nil
		for p := (repository.Page{Limit: 200}); ; {
			groups, next, err := d.Groups.ListGroups(ctx, nil, p)
			if err != nil {
				return false, fmt.Errorf("look up the groups of a silence: %w", err)
			}
			for _, g := range groups {
				names = append(names, repository.JobName{Group: g.Name, Name: job})
			}
			if len(names) > maxWarned {
				return true, nil
			}
			if next == "" {
				break
			}
			p.Cursor = next
		}
	}
	found, err := d.Jobs.JobsNamed(ctx, names)
	if err != nil {
		return false, fmt.Errorf("look up the job that a silence names: %w", err)
	}
	return len(found) > 0, nil
}

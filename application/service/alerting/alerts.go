// Package alerting has the use cases of alerts and of what people define for them.
package alerting

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// latestMessages is how many messages of each alert a list shows.
	latestMessages = 5
	// allAttempts bounds the attempts to send that one alert shows.
	allAttempts = 200
	// maxTries is how often a change is tried while others change the alert.
	maxTries = 5
)

// AlertService shows and steers alerts. Safe for concurrent use.
type AlertService struct {
	Store      repository.Store
	Alerts     repository.Alerts
	Deliveries repository.AlertDeliveries
	Clock      clock.StoreClock
}

// Shown is an alert with what people ask of it.
type Shown struct {
	*alert.Alert
	// JobName is that of the job; empty without one, and where it was purged.
	JobName    string
	Deliveries []repository.AlertDelivery
	// Actions are what the rule did.
	Actions []alert.Action
}

// List is a page of alerts, newest first, each with its latest messages. Where no index
// serves the filter a page may be short, or empty, and still have a next one.
func (s *AlertService) List(ctx context.Context, f repository.AlertFilter, p repository.Page) ([]Shown, string, error) {
	found, next, err := s.Alerts.ListAlerts(ctx, f, p)
	if err != nil || len(found) == 0 {
		return nil, next, err
	}
	ids := convert.All(found, func(a *alert.Alert) string { return a.ID })
	told, err := s.Deliveries.LatestDeliveries(ctx, ids, latestMessages)
	if err != nil {
		return nil, "", err
	}
	out, err := s.shown(ctx, found)
	for i := range out {
		out[i].Deliveries = told[out[i].ID]
	}
	return out, next, err
}

// Get is one alert with every attempt to tell of it, as far as they are kept. It returns
// apperror.KindNotFound for an unknown id.
func (s *AlertService) Get(ctx context.Context, id string) (Shown, error) {
	a, err := s.Alerts.Alert(ctx, id)
	if err != nil {
		return Shown{}, err
	}
	out, err := s.shown(ctx, []*alert.Alert{a})
	if err != nil {
		return Shown{}, err
	}
	out[0].Deliveries, err = s.Deliveries.DeliveriesOf(ctx, id, allAttempts)
	return out[0], err
}

// shown adds the names of jobs, and what rules did.
func (s *AlertService) shown(ctx context.Context, alerts []*alert.Alert) ([]Shown, error) {
	var jobs []string
	for _, a := range alerts {
		if a.JobID != "" {
			jobs = append(jobs, a.JobID)
		}
	}
	names, err := s.Alerts.AlertJobs(ctx, jobs)
	if err != nil {
		return nil, err
	}
	ids := convert.All(alerts, func(a *alert.Alert) string { return a.ID })
	did, err := s.Deliveries.ActionsOfAlerts(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := convert.All(alerts, func(a *alert.Alert) Shown {
		return Shown{Alert: a, JobName: names[a.JobID].Name, Actions: did[a.ID]}
	})
	return out, nil
}

// Acknowledge says that somebody takes care of an alert. A second time changes nothing.
// An alert that is over, or does not fire yet, is apperror.KindConflict.
func (s *AlertService) Acknowledge(ctx context.Context, id, by, comment string) (Shown, error) {
	return s.change(ctx, "alert-ack", id, comment, func(a *alert.Alert) error {
		return a.Acknowledge(by, s.Clock.Now())
	})
}

// Resolve ends an episode by hand. The same evidence never opens another one. An alert
// that is over is apperror.KindConflict.
func (s *AlertService) Resolve(ctx context.Context, id, by, comment string) (Shown, error) {
	return s.change(ctx, "alert-resolve", id, comment, func(a *alert.Alert) error {
		return a.ResolveByHand(by, s.Clock.Now())
	})
}

// change writes what do does to an alert, over the change that it has read.
func (s *AlertService) change(ctx context.Context, name, id, comment string,
	do func(a *alert.Alert) error,
) (Shown, error) {
	if err := checkComment(comment); err != nil {
		return Shown{}, err
	}
	for range maxTries {
		written := false
		err := s.Store.Write(ctx, repository.LaneAPI, name, func(ctx context.Context, tx repository.Tx) error {
			found, err := tx.Alerts.AlertsByID(ctx, []string{id})
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return apperror.NotFound("alert", id)
			}
			a := found[0]
			former := a.Seq
			if err := do(a); err != nil {
				return err
			}
			if a.Seq == former {
				written = true
				return nil
			}
			if comment != "" {
				a.Comment = comment
			}
			written, err = tx.Alerts.UpdateAlert(ctx, a, former)
			return err
		})
		if err != nil {
			return Shown{}, err
		}
		if written {
			return s.Get(ctx, id)
		}
	}
	return Shown{}, apperror.Conflict("alert_changed", "the alert changes all the time; try again in a moment")
}

func checkComment(comment string) error {
	switch {
	case utf8.RuneCountInString(comment) > bounds.Comment:
		return apperror.InvalidField("comment", validation.CodeTooLong,
			fmt.Sprintf("must have at most %d characters", bounds.Comment))
	case validation.Text(comment, len(comment)) != comment:
		return apperror.InvalidField("comment", validation.CodeInvalid,
			"remove control characters; end lines with a line feed")
	}
	return nil
}

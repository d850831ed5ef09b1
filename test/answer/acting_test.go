package answer_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/acting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// hands start jobs as the API does, for a user who may do everything.
type hands struct {
	acting.Doer
	*rig
}

// UserByID implements acting.Rights.
func (h hands) UserByID(_ context.Context, id string) (entity.User, error) {
	return entity.User{ID: id, Name: "Ann", Role: entity.RoleOperator}, nil
}

// Allows implements acting.Rights.
func (h hands) Allows(entity.User, string, string) bool { return true }

// RunJob implements acting.Doer.
func (h hands) RunJob(ctx context.Context, jobID, params string, _ entity.Actor, also acting.Also) error {
	var a admission.Admission
	now := h.Time.Now()
	fire := entity.ExtraFire(entity.TriggerAPI, now, now, now, params)
	h.Admitter.PrepareIDs(ctx, jobID)
	err := h.Store.Write(ctx, repository.LaneAPI, "trigger", func(ctx context.Context, tx repository.Tx) error {
		jobs, err := h.Admitter.Lock(ctx, tx, []string{jobID})
		if err != nil {
			return err
		}
		if a, err = h.Admitter.Fire(ctx, tx, now, jobs[jobID], fire); err != nil {
			return err
		}
		return also(ctx, tx, a.Executions)
	})
	if err == nil {
		h.Commits.AfterCommit(a.PostCommit)
	}
	return err
}

// actionsOf runs a job for each alert, once.
func actionsOf(t *testing.T, r *rig) loop {
	d, h := deskOf(t, r), hands{rig: r}
	repair := d.Add(t, enginetest.Job("repair", nil))
	d.Rule(alert.JobFailed, func(rule *alert.Rule) {
		rule.Actions = []alert.RuleAction{{Kind: alert.ActionRunJob, JobID: repair.ID}}
		rule.EditorID, rule.Group = "ann", "default"
	})
	actor := acting.NewActor(acting.ActorDeps{
		Actions: r.Store, Alerts: r.Store, Rules: r.Store, Rights: h, Doer: h,
		Audit: func(context.Context, entity.AuditEntry) error { return nil },
		Clock: r.Clock, Logger: slog.New(slog.DiscardHandler),
	})
	var alerts []string
	return loop{
		happen: func(n int) {
			r.Clock.Advance(10 * time.Minute) // a rule acts ten times an hour
			alerts = append(alerts, d.Fail(fmt.Sprint("broken ", n)).ID)
			d.Plan()
		},
		turn: func(ctx context.Context) error {
			_, err := actor.RunOnce(ctx)
			return err
		},
		left: func() string {
			found, err := r.Store.ActionsOfAlerts(t.Context(), alerts)
			require.NoError(t, err)
			for _, id := range alerts {
				if len(found[id]) != 1 || found[id][0].State != alert.ActionDone {
					return fmt.Sprintf("the actions of %s are %v", id, found[id])
				}
			}
			want := slices.Repeat([]string{"SUCCESS"}, len(alerts))
			return unlike("runs", want, enginetest.States(r.Executions(t, repair.ID)))
		},
	}
}

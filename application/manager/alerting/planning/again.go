package planning

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// openOfRule bounds the open alerts of one rule that a job carries itself: there is one.
const openOfRule = 10

// JobAgain plans again the open alerts of a job whose own lists name another channel than before. A plan tells no
// channel twice. Call it after the commit of the edit. Its failure is not that of the edit: the alerts are then told
// at their next plan.
func JobAgain(ctx context.Context, alerts repository.Alerts, former, next *entity.Job, now time.Time) {
	ctx = context.WithoutCancel(ctx)
	before := map[string][]string{}
	for _, r := range ownRules(former) {
		before[r.ID] = r.ChannelIDs
	}
	var ids []string
	for _, r := range ownRules(next) {
		if !slices.ContainsFunc(r.ChannelIDs, func(name string) bool { return !slices.Contains(before[r.ID], name) }) {
			continue
		}
		open, _, err := alerts.ListAlerts(ctx, repository.AlertFilter{
			JobID: next.ID, RuleID: r.ID, Statuses: []alert.Status{alert.Firing},
		}, repository.Page{Limit: openOfRule})
		if err != nil {
			return
		}
		for _, a := range open {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) > 0 {
		_ = alerts.PlanAgain(ctx, ids, now)
	}
}

// ownRules are those that a job carries itself. They name channels by name.
func ownRules(j *entity.Job) []*alert.Rule {
	return alerting.ShortRules(alerting.Job{ID: j.ID, Alerts: j.Alerts, Deadline: j.Deadline.At != ""})
}

package alerting_test

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(sec int) time.Time { return noon.Add(time.Duration(sec) * time.Second) }

func rule(t alert.RuleType, change func(r *alert.Rule)) *alert.Rule {
	r := &alert.Rule{
		Head: alert.Head{ID: "r1", Name: "rule", Enabled: true, Version: 2}, Type: t, Level: alert.Warning,
		Notify: alert.NotifyFirst,
	}
	if change != nil {
		change(r)
	}
	return r
}

var pay = alerting.Job{ID: "j1", Name: "settle", Group: "pay", Labels: map[string]string{"tier": "1"}}

func end(status entity.Status, reason entity.Reason) alerting.End {
	return alerting.End{ExecutionID: "e1", Status: status, Reason: reason, At: noon, Message: "boom", Fires: 1}
}

// runs are runs of the given states, the newest first, a second apart.
func runs(states ...entity.Status) (out []alerting.Run) {
	for i, s := range states {
		out = append(out, alerting.Run{ExecutionID: "e", Status: s, At: at(-i)})
	}
	return out
}

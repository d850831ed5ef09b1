package controller

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

// The bounds of what the audit log keeps of a trigger.
const (
	auditParams = 4 << 10
	auditRuns   = 200
)

// auditOfTrigger is what the audit log keeps of a run by hand. Values whose
// names say that they are secret are hidden.
func auditOfTrigger(t service.Trigger, ids []string) map[string][2]any {
	did := map[string][2]any{"executionIds": {nil, ids[:min(len(ids), auditRuns)]}}
	if t.DelaySec > 0 {
		did["delaySec"] = [2]any{nil, t.DelaySec}
	}
	if !t.ScheduledTime.IsZero() {
		did["scheduledTime"] = [2]any{nil, vo.Time(t.ScheduledTime)}
	}
	if len(t.Params) == 0 {
		return did
	}
	if len(t.Params) > auditParams {
		did["params"] = [2]any{nil, "too long to be kept here; see the execution"}
		return did
	}
	var params map[string]any
	if json.Unmarshal([]byte(t.Params), &params) == nil {
		did["params"] = [2]any{nil, sensitive.HideAll(params)}
	}
	return did
}

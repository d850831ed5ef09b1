package job

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

// The bounds of what the audit log keeps of one call.
const (
	// auditParams and auditNames bound parameters and names, in bytes.
	auditParams = 4 << 10
	auditNames  = 30 << 10
	// auditRuns bounds the executions of a trigger, auditBulkRuns those of a trigger of
	// many jobs.
	auditRuns     = 200
	auditBulkRuns = 500
)

// auditOfTrigger is what the audit log keeps of a run by hand. Values whose
// names say that they are secret are hidden.
func auditOfTrigger(t job.Trigger, ids []string) map[string][2]any {
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

// auditOfPause is what the audit log keeps of a pause beside who and what.
func auditOfPause(p entity.Pause) map[string][2]any {
	did := map[string][2]any{}
	if p.Reason != "" {
		did["reason"] = [2]any{nil, p.Reason}
	}
	if !p.Until.IsZero() {
		did["until"] = [2]any{nil, vo.Time(p.Until)}
	}
	return did
}

// didPause notes a pause for the audit log.
func didPause(c *gin.Context, p entity.Pause) {
	if did := auditOfPause(p); len(did) > 0 {
		middleware.SetChanges(c, did)
	}
}

// auditOfBulk is what the audit log keeps of a call for many objects. It names the
// objects that the call changed, with the executions that it made. Of the others it
// keeps the reason.
func auditOfBulk(items []vo.BulkItem) map[string][2]any {
	done, refused := map[string][]string{}, map[string]string{}
	left := auditBulkRuns
	for _, item := range items {
		if !item.OK {
			refused[item.ID] = item.Code
			continue
		}
		made := item.ExecutionIDs[:min(len(item.ExecutionIDs), left)]
		left -= len(made)
		done[item.ID] = append([]string{}, made...)
	}
	return map[string][2]any{"done": {nil, done}, "refused": {nil, refused}}
}

// auditOfDeleted names the objects that a call deleted, by id; names without end
// are left out.
func auditOfDeleted(names map[string]string) map[string]string {
	left := auditNames
	out := make(map[string]string, len(names))
	for id, name := range names {
		if left -= len(name); left < 0 {
			name = ""
		}
		out[id] = name
	}
	return out
}

package job

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// edits reports whether the caller may write the jobs of a group, and so sees
// the whole of their definitions.
func edits(c *gin.Context, group string) bool {
	return middleware.Permit(c, permission.JobWrite, group) == nil
}

// seen is a job as the caller sees it: without the secrets that its definition
// holds in clear text, unless the caller may write it.
func seen(c *gin.Context, job *entity.Job) *entity.Job {
	if edits(c, job.Group) {
		return job
	}
	hidden := *job
	hidden.Data = sensitive.Hide(job.Data)
	return &hidden
}

// differences are the fields in which two definitions of a job differ, with both
// values; whole shows the secrets that stand there in clear text.
func differences(before, after *entity.Job, whole bool) map[string][2]any {
	changes := middleware.Diff(vo.FromJob(before), vo.FromJob(after))
	if data, differ := changes[validation.DataField]; differ && !whole {
		changes[validation.DataField] = [2]any{sensitive.HideIn(data[0]), sensitive.HideIn(data[1])}
	}
	return changes
}

// warnings adds to what keeps the runs of a job from starting which secrets its
// definition holds in clear text, and what a shell reads otherwise than it looks.
func warnings(job *entity.Job, unfit []apperror.Field) []vo.Warning {
	inClear, _ := sensitive.Find(job.Data)
	found := unfit[:len(unfit):len(unfit)]
	for _, path := range inClear {
		found = append(found, apperror.Field{
			Field: validation.DataField + "." + path, Code: "secret_in_clear",
			Message: "looks like a secret that stands in the definition: keep it under /api/v1/secrets, and write " +
				"${secret.NAME} here; who may not edit the job sees ***",
		})
	}
	return vo.FromWarnings(append(found, validation.CarriageReturns(job)...))
}

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

package job

import (
	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
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
// definition holds in clear text.
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
	return vo.FromWarnings(found)
}

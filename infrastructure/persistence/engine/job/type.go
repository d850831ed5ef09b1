package job

import (
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// storedCommand is how the store names the type of commands: by the name in the
// design document, which nodes of former releases read and write.
const storedCommand = "CRON"

// storedType is a job type as the store names it.
func storedType(t entity.JobType) string {
	if t == entity.JobCommand {
		return storedCommand
	}
	return string(t)
}

// TypeOf is the job type that the store names so.
func TypeOf(stored string) entity.JobType {
	if stored == storedCommand {
		return entity.JobCommand
	}
	return entity.JobType(stored)
}

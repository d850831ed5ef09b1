package command

import (
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
)

// Fill returns job data with the values of a run in their places, for a worker that runs it as it stands. The checks
// that need what the author of the job wrote are made here: a worker does not see that any more.
func Fill(data string, interpreters []string, run *placeholder.Values) (string, []apperror.Field) {
	d, faults := parse(data, interpreters, run)
	if len(faults) > 0 {
		return "", faults
	}
	filled, err := jobdata.Fill(data, map[string]any{"command": d.argv, "env": d.env, "workingDir": d.workingDir})
	if err != nil {
		return "", jobdata.Unfilled(err)
	}
	return filled, nil
}

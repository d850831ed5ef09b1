package crash

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// script is a command that writes into the ledger when it begins, that it is
// alive, and when it ends.
const script = `say() { echo "$SCHEDULER_EXECUTION_ID $SCHEDULER_JOB_ID $SCHEDULER_ATTEMPT $SCHEDULER_SHARD_INDEX $SCHEDULER_FENCING_TOKEN $1 $EPOCHREALTIME" >>"$LEDGER"; }
say begin
for i in 1 2 3; do sleep 0.1; say alive; echo "attempt $SCHEDULER_ATTEMPT line $i"; done
say end`

// CommandData is the data of a job whose command writes into a ledger.
func CommandData(ledger string) map[string]any {
	return map[string]any{"command": []string{"bash", "-c", script}, "env": map[string]string{"LEDGER": ledger}}
}

// commands are jobs whose ledger is a file that they write themselves.
func commands(ledger string) []definition {
	run := CommandData(ledger)
	job := func(j history.Job, with map[string]any) definition {
		j.Step, j.Called, j.Lines = time.Second, true, true
		with["jobType"], with["jobData"], with["schedule"] = "COMMAND", run, every(1, nil)
		return definition{j, with}
	}
	return []definition{
		job(history.Job{Name: "command"}, map[string]any{}),
		job(history.Job{Name: "command, serial", OneAtATime: true}, map[string]any{"overlapPolicy": "SERIAL"}),
		job(history.Job{Name: "command, not after a loss", OnceOnly: true}, map[string]any{"onNodeLoss": "FAIL"}),
	}
}

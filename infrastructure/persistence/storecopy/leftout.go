package storecopy

const (
	none = " WHERE 1 = 0"
	live = " FROM scheduler_job_execution WHERE claim_key IS NOT NULL"
	// work are runs that wait or run, and the ends that these still need: those of the steps of an open workflow run, also
	// of the steps that a retry takes over, and those of other shards of a fire that is not over.
	work = " WHERE claim_key IS NOT NULL OR (job_id, fire_key) IN (SELECT job_id, fire_key" + live + ")" +
		" OR (fire_key LIKE 'run:%' AND SUBSTR(fire_key, 5, 36) IN (SELECT id" + live + "))"
	in   = " IN (SELECT id FROM scheduler_job_execution" + work + ")"
	of   = " WHERE execution_id" + in
	used = " WHERE execution" + in
	open = " WHERE id IN (SELECT id" + live + ")"
)

// leftOut says which rows of a table a backup holds, where these are not all: sessions and calls that may be repeated
// mean nothing on another server.
var leftOut = map[string]string{
	"scheduler_session":         none,
	"scheduler_idempotency_key": none,
	// A worker of the copied server is none of the server that the copy makes: it registers anew, or does not.
	"scheduler_worker": none, "scheduler_worker_handlers": none,
}

// withoutLogs is what a backup without logs leaves out, withoutHistory what one without history does. Work stays, with
// its attempts: it is no history.
var (
	withoutLogs    = map[string]string{"scheduler_job_log": none}
	withoutHistory = map[string]string{
		"scheduler_job_execution": work, "scheduler_execution_attempt": of, "scheduler_execution_replay": of,
		"scheduler_job_log": of, "scheduler_dead_letter": none, "scheduler_audit_log": none, "scheduler_metrics": none,
		"scheduler_job_stat": none, "scheduler_scope_stat": none, "scheduler_end_digest": none, "scheduler_noted_end": none,
		"scheduler_execution_usage": used, "scheduler_execution_hold": used,
		// Of jobs that start others the runs that owe are over, and left out.
		"scheduler_workflow_todo": " WHERE kind = 'RUN'", "scheduler_workflow_run": open,
		"scheduler_approval": of, "scheduler_approval_vote": of,
	}
)

// left is the condition of the rows of a table that a backup holds; empty: all.
func left(name string, o Options) string {
	if where, ok := leftOut[name]; ok {
		return where
	}
	if where, ok := withoutLogs[name]; ok && o.WithoutLogs {
		return where
	}
	if o.WithoutHistory {
		return withoutHistory[name]
	}
	return ""
}

// names are what a backup left out, as users say it.
func (o Options) names() []string {
	var names []string
	if o.WithoutLogs {
		names = append(names, "logs")
	}
	if o.WithoutHistory {
		names = append(names, "history")
	}
	return names
}

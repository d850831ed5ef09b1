package periodic

import "slices"

// aside are the tasks that report, count and clear up. A node on which one of them is stuck still runs jobs: it is
// degraded, and still gets requests.
var aside = []string{
	"alerts", "alert-actions", "alert-deadlines", "alert-events", "alert-heartbeat", "alert-levels", "alert-recovery",
	"alert-successes", "alert-watchdog", "disk", "exposure", "fold", "forget", "kafka", "kafka-events", "metrics",
	"metrics-roll-up", "missed-ends", "notifier", "periods", "retention", "slow-runs", "troubles", "weekly-report",
}

// Blocks reports whether a node cannot do its work while a task of this name is stuck. docs/operations.md lists
// both kinds.
func Blocks(name string) bool { return !slices.Contains(aside, name) }

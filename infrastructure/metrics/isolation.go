package metrics

import "github.com/prometheus/client_golang/prometheus"

// Isolation says how a node isolates its commands: the user that runs them, what ends the
// processes of a run, and what bounds their memory and number.
type Isolation struct {
	User, Ending, Memory, Processes string
}

// Unbounded is the value of Isolation.Processes where nothing bounds their number.
const Unbounded = "none"

// Commands shows that the node runs commands, and how it isolates them. Call it at most once.
func (m *MetricsCollector) Commands(i Isolation) {
	maker{m.registry}.info("ps_command_isolation_info",
		"1 where commands are run: their user, what ends a run, what bounds its memory and its processes.",
		prometheus.Labels{"user": i.User, "ending": i.Ending, "memory": i.Memory, "processes": i.Processes})
}

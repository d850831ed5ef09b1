package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// doors are the instruments of what is refused at the edge, and of the calls of workers.
type doors struct {
	calls       *prometheus.CounterVec
	connections *prometheus.CounterVec
	workers     *prometheus.CounterVec
}

func newDoors(m maker) doors {
	return doors{
		calls: m.counters("ps_calls_refused_total",
			"Calls that were answered 429, because the user or the node had too many of the kind under way, by route.",
			[]string{"route"}),
		// The reasons are those of connlimit.Reason.
		connections: m.counters("ps_connections_refused_total",
			"Connections that were refused (address, total: the bound that was reached) or thrown out before a sign-in "+
				"(stranger: to make room; body: its body took too long), or are one too many of workers (worker).",
			[]string{"reason"}, "address", "total", "stranger", "body", "worker"),
		workers: m.counters("ps_worker_calls_total",
			"Calls of workers, by call, status and worker group; without a group where the token is not good.",
			[]string{"call", "status", "group"}),
	}
}

// CallRefused returns what counts the calls of a route that are refused, such as "/jobs/trial".
func (d doors) CallRefused(route string) func() { return d.calls.WithLabelValues(route).Inc }

// ConnectionRefused counts a connection that was refused or thrown out.
func (d doors) ConnectionRefused(reason string) { d.connections.WithLabelValues(reason).Inc() }

// WorkerCalled counts a call of a worker.
func (d doors) WorkerCalled(call string, status int, group string) {
	d.workers.WithLabelValues(call, strconv.Itoa(status), group).Inc()
}

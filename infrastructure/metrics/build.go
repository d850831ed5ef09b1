package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// Build shows which version of the program runs. Call it once.
func (m *MetricsCollector) Build(version string) {
	maker{m.registry}.info("ps_build_info", "1, with the version of the program and of Go.",
		prometheus.Labels{"version": version, "goversion": runtime.Version()})
}

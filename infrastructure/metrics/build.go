package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// Build shows which version of the program runs. Call it once.
func (m *MetricsCollector) Build(version string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ps_build_info", Help: "1, with the version of the program and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	m.registry.MustRegister(info)
}

package rig

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Figures are what a server says of itself in its metrics.
type Figures struct {
	// CPU is in seconds, RSS in bytes.
	CPU, RSS float64
	// Queries counts statements and transactions by name.
	Queries map[string]float64
}

// ReadFigures reads the metrics of a server.
func ReadFigures(ctx context.Context, server string) (Figures, error) {
	f := Figures{Queries: map[string]float64{}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/metrics", http.NoBody)
	if err != nil {
		return f, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return f, fmt.Errorf("read the server's metrics: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		return f, fmt.Errorf("read the server's metrics: %w", err)
	}
	f.CPU = only(families["process_cpu_seconds_total"]).GetCounter().GetValue()
	f.RSS = only(families["process_resident_memory_bytes"]).GetGauge().GetValue()
	for _, m := range families["ps_store_queries_total"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "query" {
				f.Queries[l.GetValue()] += m.GetCounter().GetValue()
			}
		}
	}
	return f, nil
}

func only(family *dto.MetricFamily) *dto.Metric {
	if len(family.GetMetric()) == 0 {
		return nil
	}
	return family.GetMetric()[0]
}

// QueriesSince are the statements a second since then, by name.
func (f Figures) QueriesSince(before Figures, seconds float64) map[string]float64 {
	perSecond := map[string]float64{}
	for name, n := range f.Queries {
		if d := n - before.Queries[name]; d > 0 && !strings.HasPrefix(name, "tx.") {
			perSecond[name] = d / seconds
		}
	}
	return perSecond
}

// CPUSince is the share of one core that was used since then, in percent.
func (f Figures) CPUSince(before Figures, seconds float64) float64 {
	return 100 * (f.CPU - before.CPU) / seconds
}

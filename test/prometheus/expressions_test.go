package prometheus_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// query is an expression of a panel or of a rule.
type query struct{ where, expr string }

// grafana replaces what Grafana replaces before it asks.
var grafana = strings.NewReplacer("$__rate_interval", "30s", "$instance", ".*", "$group", ".*", "$job_name", ".*")

// queries returns all expressions that are shipped. An alert asks whether a figure has crossed a line: here only the
// figure is asked for, in the span of the test; that the alert fires beyond its line is what promtool's tests show.
func queries(t *testing.T) (all []query) {
	t.Helper()
	for _, r := range rules(t, "recording.yml") {
		all = append(all, query{r.Record, shorter(r.Expr)})
	}
	for _, r := range rules(t, "alerts.yml") {
		for _, figure := range figures(t, r.Expr) {
			all = append(all, query{r.Alert, shorter(figure)})
		}
	}
	files, err := filepath.Glob("../../configs/grafana/dashboards/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var dashboard struct {
			UID    string
			Panels []struct {
				Title   string
				Targets []struct{ Expr, RefID string }
			}
		}
		require.NoError(t, json.Unmarshal(raw, &dashboard))
		for _, p := range dashboard.Panels {
			for _, target := range p.Targets {
				all = append(all, query{dashboard.UID + ": " + p.Title + ": " + target.RefID, grafana.Replace(target.Expr)})
			}
		}
	}
	return all
}

// shorter makes spans fit a test of some minutes.
func shorter(expr string) string {
	return strings.NewReplacer("[5m]", "[30s]", "[10m]", "[30s]", "[15m]", "[30s]").Replace(expr)
}

// figures returns the sides of an alert that are measured, without the lines that they must not cross.
func figures(t *testing.T, text string) []string {
	t.Helper()
	expr, err := parser.ParseExpr(text)
	require.NoError(t, err, text)
	var found []string
	var walk func(e parser.Expr)
	walk = func(e parser.Expr) {
		switch e := e.(type) {
		case *parser.ParenExpr:
			walk(e.Expr)
			return
		case *parser.BinaryExpr:
			if e.Op == parser.LAND {
				walk(e.LHS)
				walk(e.RHS)
				return
			}
			if _, line := e.RHS.(*parser.NumberLiteral); line && e.Op.IsComparisonOperator() {
				walk(e.LHS)
				return
			}
		}
		found = append(found, e.String())
	}
	walk(expr)
	return found
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

func TestTheDashboardsAreCurrent(t *testing.T) {
	want, err := files()
	require.NoError(t, err)
	there, err := filepath.Glob("../../configs/grafana/dashboards/*.json")
	require.NoError(t, err)
	require.Len(t, there, len(want))
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join("../../configs/grafana/dashboards", name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, have), "%s is not current: make docs writes it", name)
	}
}

// families are the names of all instruments of a node.
func families(t *testing.T) map[string]bool {
	t.Helper()
	m := metrics.New(clock.NewSystem(), 1)
	m.Watch(metrics.Sources{})
	m.WatchRetention(nil)
	m.Commands(metrics.Isolation{})
	m.Build("v1")
	descs := make(chan *prometheus.Desc)
	go func() {
		m.Registry().Describe(descs)
		close(descs)
	}()
	names, fqName := map[string]bool{}, regexp.MustCompile(`fqName: "([^"]+)"`)
	for d := range descs {
		names[fqName.FindStringSubmatch(d.String())[1]] = true
	}
	return names
}

// expressions returns what the rules record, and all expressions by where they stand.
func expressions(t *testing.T) (recorded map[string]bool, all map[string]string) {
	t.Helper()
	recorded, all = map[string]bool{}, map[string]string{}
	for _, name := range []string{"recording.yml", "alerts.yml"} {
		raw, err := os.ReadFile(filepath.Join("../../configs/prometheus/rules", name))
		require.NoError(t, err)
		var file struct {
			Groups []struct {
				Rules []struct{ Record, Alert, Expr string }
			}
		}
		require.NoError(t, yaml.Unmarshal(raw, &file))
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				recorded[r.Record] = true
				all[r.Record+r.Alert] = r.Expr
			}
		}
	}
	for _, d := range dashboards() {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				all[d.UID+": "+p.Title+" "+target.RefID] = target.Expr
			}
		}
	}
	return recorded, all
}

// shown replaces what Grafana replaces.
var shown = strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*", "$group", ".*", "$job_name", ".*")

// Each expression is one of PromQL, and asks for what there is; and all that there is can be seen.
func TestExpressionsAskForWhatThereIs(t *testing.T) {
	known, unseen := families(t), map[string]bool{}
	recorded, all := expressions(t)
	for name := range known {
		unseen[name] = strings.HasPrefix(name, "ps_")
	}
	for where, text := range all {
		expr, err := parser.ParseExpr(shown.Replace(text))
		require.NoError(t, err, "%s: %s", where, text)
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			v, ok := node.(*parser.VectorSelector)
			if !ok || recorded[v.Name] || v.Name == "up" || v.Name == "ALERTS" {
				return nil
			}
			name := v.Name
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				if base, ok := strings.CutSuffix(name, part); ok && !known[name] {
					name = base
				}
			}
			require.True(t, known[name], "%s asks for %s, which no node has", where, v.Name)
			delete(unseen, name)
			return nil
		})
	}
	// These say the same as others, or are of the machine that is seen otherwise.
	for _, name := range []string{"ps_host_load5", "ps_host_load15"} {
		delete(unseen, name)
	}
	for name, own := range unseen {
		require.False(t, own, "%s is on no dashboard, and in no rule", name)
	}
}

// Grafana finds panels by their ids, and dashboards by their uids.
func TestPanelsHavePlacesAndIDs(t *testing.T) {
	uids := map[string]bool{}
	for _, d := range dashboards() {
		require.False(t, uids[d.UID])
		uids[d.UID] = true
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range d.Panels {
			require.False(t, ids[p.ID], "%s: %s", d.UID, p.Title)
			ids[p.ID] = true
			require.NotEmpty(t, p.Title)
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				require.Less(t, x, lineWidth)
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					require.Empty(t, taken[[2]int{x, y}], "%s: %s lies on another panel", d.UID, p.Title)
					taken[[2]int{x, y}] = p.Title
				}
			}
			for _, target := range p.Targets {
				for name := range strings.FieldsSeq(strings.NewReplacer(`"`, " ", ",", " ", "[", " ", "]", " ", "}", " ").
					Replace(target.Expr)) {
					name, variable := strings.CutPrefix(name, "$")
					require.True(t, !variable || strings.HasPrefix(name, "__") || has(d, name), "%s: no variable %s", d.UID, name)
				}
			}
		}
	}
}

func has(d Dashboard, variable string) bool {
	for _, v := range d.Templating.List {
		if v.Name == variable {
			return true
		}
	}
	return false
}

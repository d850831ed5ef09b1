package prometheus_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/promtest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// prometheus is a real server with the configuration that is shipped, but for the targets and shorter intervals.
type prometheus struct {
	t    *testing.T
	base string
}

// startPrometheus scrapes nodes at these addresses, each second.
func startPrometheus(t *testing.T, token string, targets []string) *prometheus {
	t.Helper()
	program := promtest.NeedPrometheus(t, "prometheus")
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(configs)))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "metrics-token"), []byte(token), 0o600))
	quoted, err := json.Marshal(targets)
	require.NoError(t, err)
	for name, changes := range map[string][]string{
		"prometheus.yml":      {"_interval: 15s", "_interval: 1s", `["127.0.0.1:8080"]`, string(quoted)},
		"rules/recording.yml": {"interval: 15s", "interval: 1s", "[5m]", "[30s]"},
	} {
		file := filepath.Join(folder, name)
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for i := 0; i < len(changes); i += 2 {
			require.Contains(t, string(raw), changes[i])
		}
		require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer(changes...).Replace(string(raw))), 0o600))
	}
	addr, err := rig.FreeAddr(t.Context())
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(folder, "log"))
	require.NoError(t, err)
	cmd := exec.Command(program, "--config.file="+filepath.Join(folder, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+addr, "--log.level=warn",
		"--enable-feature=native-histograms,exemplar-storage")
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("Prometheus says:\n%s", text)
		}
	})
	p := &prometheus{t, "http://" + addr}
	require.Eventually(t, func() bool {
		res, err := http.Get(p.base + "/-/ready")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, 30*time.Second, 100*time.Millisecond, "Prometheus does not start")
	return p
}

// ask calls the API of Prometheus.
func (p *prometheus) ask(path string, args url.Values, data any) {
	p.t.Helper()
	res, err := http.PostForm(p.base+"/api/v1/"+path, args)
	require.NoError(p.t, err)
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	require.NoError(p.t, json.NewDecoder(res.Body).Decode(&answer))
	require.Equal(p.t, "success", answer.Status, "%s %s: %s", path, args.Get("query"), answer.Error)
	require.NoError(p.t, json.Unmarshal(answer.Data, data))
}

// series is an answer to a query of a span: labels, and the values that are numbers.
type series struct {
	labels map[string]string
	values []float64
}

// over asks for the values of an expression at each second of a span. Prometheus steps forward from the begin, so the
// begin is set for a step to meet the end: what was seen a moment ago is in the answer.
func (p *prometheus) over(expr string, from, to time.Time) (found []series) {
	p.t.Helper()
	from = to.Add(-to.Sub(from).Truncate(time.Second))
	seconds := func(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }
	var data struct {
		Result []struct {
			Metric     map[string]string
			Values     [][2]any
			Histograms [][2]any
		}
	}
	p.ask("query_range", url.Values{"query": {expr}, "start": {seconds(from)}, "end": {seconds(to)}, "step": {"1"}}, &data)
	for _, r := range data.Result {
		s := series{labels: r.Metric}
		for _, sample := range r.Values {
			v, err := strconv.ParseFloat(fmt.Sprint(sample[1]), 64)
			if err == nil && !math.IsNaN(v) {
				s.values = append(s.values, v)
			}
		}
		for range r.Histograms {
			s.values = append(s.values, 0)
		}
		if len(s.values) > 0 {
			found = append(found, s)
		}
	}
	return found
}

// await waits until an expression has a value that is not 0, and notes how long that took.
func (p *prometheus) await(expr, what string, within time.Duration) {
	p.t.Helper()
	began := time.Now()
	defer func() { p.t.Logf("%s: after %s", what, time.Since(began).Round(time.Millisecond)) }()
	require.Eventually(p.t, func() bool {
		now := time.Now()
		for _, s := range p.over(expr, now.Add(-5*time.Second), now) {
			for _, v := range s.values {
				if v != 0 {
					return true
				}
			}
		}
		return false
	}, within, 500*time.Millisecond, "%s: %s", what, expr)
}

// exemplars returns the executions that exemplars of a metric name.
func (p *prometheus) exemplars(metric string) map[string]bool {
	p.t.Helper()
	var data []struct {
		Exemplars []struct{ Labels map[string]string }
	}
	p.ask("query_exemplars", url.Values{"query": {metric}, "start": {"0"}, "end": {fmt.Sprint(time.Now().Unix() + 60)}},
		&data)
	ids := map[string]bool{}
	for _, s := range data {
		for _, e := range s.Exemplars {
			ids[e.Labels["execution_id"]] = true
		}
	}
	return ids
}

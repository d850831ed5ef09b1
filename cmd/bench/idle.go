package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// idle loads many jobs of which none is due, starts the real server as a
// process of its own, and measures what it takes to do nothing.
func (b *bench) idle(ctx context.Context) (Result, error) {
	watch := newObserver(0)
	e, cfg, err := b.start(ctx, watch)
	if err != nil {
		return Result{}, err
	}
	watch.clock = e.Clock
	b.note("loading %d jobs of which none is due", b.Jobs)
	far := e.Clock.Now().Truncate(time.Millisecond).Add(24 * time.Hour)
	err = b.load(ctx, e, b.Jobs, func(i int, j *entity.Job) { j.NextFireTime = far.Add(time.Duration(i) * time.Millisecond) })
	if err != nil {
		return Result{}, err
	}
	r := b.result(e, cfg, b.Jobs)
	e.Start()
	if err := stop(ctx, e); err != nil {
		return r, err
	}
	return r, b.watchServer(ctx, cfg, &r)
}

// readyBound is how long a server may take to be ready.
const readyBound = 2 * time.Minute

// watchServer runs this binary as a server over the loaded store.
func (b *bench) watchServer(ctx context.Context, cfg config.Config, r *Result) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	const addr = "127.0.0.1:39517"
	server := exec.CommandContext(ctx, self, "server")
	server.Env = append(os.Environ(), "PS_DATA_DIR="+cfg.DataDir, "PS_SERVER_ADDR="+addr, "PS_LOG_LEVEL=error",
		"PS_STORE_DRIVER="+cfg.Store.Driver, "PS_STORE_DSN="+cfg.Store.DSN, "PS_NODE_ID="+cfg.Node.ID)
	server.Stdout, server.Stderr = io.Discard, b.Progress
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	began := b.clock.Monotonic()
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	for !answers(ctx, "http://"+addr+"/readyz") {
		if b.clock.Monotonic()-began > readyBound {
			return fmt.Errorf("the server was not ready within %s", readyBound)
		}
		if err := b.sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	r.ReadyMs = float64((b.clock.Monotonic() - began).Microseconds()) / 1000
	b.note("ready after %.0f ms; watching it do nothing for %s", r.ReadyMs, b.Duration)
	if err := b.sleep(ctx, 2*time.Second); err != nil {
		return err
	}
	before, err := processFigures(ctx, "http://"+addr+"/metrics")
	if err != nil {
		return err
	}
	at := b.clock.Monotonic()
	if err := b.sleep(ctx, b.Duration); err != nil {
		return err
	}
	after, err := processFigures(ctx, "http://"+addr+"/metrics")
	if err != nil {
		return err
	}
	seconds := (b.clock.Monotonic() - at).Seconds()
	r.CPUPercent = 100 * (after.cpu - before.cpu) / seconds
	r.RSSMb = after.rss / (1 << 20)
	r.QueriesPerSecond = map[string]float64{}
	for name, n := range after.queries {
		if d := n - before.queries[name]; d > 0 && !strings.HasPrefix(name, "tx.") {
			r.QueriesPerSecond[name] = d / seconds
		}
	}
	return nil
}

func answers(ctx context.Context, url string) bool {
	res, err := get(ctx, url)
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode == http.StatusOK
}

func get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// figures are what a server says of itself.
type figures struct {
	cpu, rss float64
	queries  map[string]float64
}

func processFigures(ctx context.Context, url string) (figures, error) {
	f := figures{queries: map[string]float64{}}
	res, err := get(ctx, url)
	if err != nil {
		return f, fmt.Errorf("read the server's metrics: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		return f, fmt.Errorf("read the server's metrics: %w", err)
	}
	f.cpu = only(families["process_cpu_seconds_total"]).GetCounter().GetValue()
	f.rss = only(families["process_resident_memory_bytes"]).GetGauge().GetValue()
	for _, m := range families["ps_store_queries_total"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "query" {
				f.queries[l.GetValue()] += m.GetCounter().GetValue()
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

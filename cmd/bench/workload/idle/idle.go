// Package idle measures what servers use while no job is due.
package idle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Servers measures what a server does that has nothing to do.
type Servers struct {
	*rig.Bench
	// Jobs are those of which none is due. Workers then call the one server there is, and do nothing either.
	Jobs, Workers int
}

// Run loads many jobs of which none is due, and starts the real server as one or several
// processes. It measures what they use.
func (b Servers) Run(ctx context.Context) (report.Result, error) {
	next := b.Scratch.Next
	if b.Processes {
		next = b.Scratch.NextShared
	}
	cfg, err := next(ctx)
	if err != nil {
		return report.Result{}, err
	}
	store, err := b.OpenStore(ctx, cfg)
	if err != nil {
		return report.Result{}, err
	}
	b.Note("loading %d jobs of which none is due", b.Jobs)
	r := b.NewResult(store.Info(), cfg, b.Jobs)
	r.Nodes = b.Nodes
	if err := errors.Join(b.LoadSleepers(ctx, store, 0, b.Jobs), store.Close()); err != nil {
		return r, err
	}
	return r, b.watchServers(ctx, cfg, &r)
}

// readyBound is how long a server may take to be ready.
const readyBound = 2 * time.Minute

// server is this binary as a server over the loaded store.
type server struct {
	id, url string
	process *exec.Cmd
	began   time.Duration
	readyMs float64
	before  rig.Figures
}

// watchServers runs servers and looks what they do.
func (b Servers) watchServers(ctx context.Context, cfg config.Config, r *report.Result) error {
	var all []*server
	defer func() {
		for _, s := range all {
			_ = s.process.Process.Signal(syscall.SIGTERM)
		}
		for _, s := range all {
			_ = s.process.Wait()
		}
	}()
	for i := range b.Nodes {
		s, err := b.startServer(ctx, cfg, i)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	for _, s := range all {
		if err := b.awaitReady(ctx, s); err != nil {
			return err
		}
		r.ReadyMs = max(r.ReadyMs, s.readyMs)
	}
	b.Note("ready after %.0f ms; watching for %s what is done to do nothing", r.ReadyMs, b.Duration)
	// Several need some beats to share the partitions, and look again.
	if err := b.Sleep(ctx, time.Duration(2*b.Nodes)*time.Second); err != nil {
		return err
	}
	for _, s := range all {
		var err error
		if s.before, err = rig.ReadFigures(ctx, s.url); err != nil {
			return err
		}
	}
	at := b.Clock.Monotonic()
	if err := b.Sleep(ctx, b.Duration); err != nil {
		return err
	}
	for _, s := range all {
		after, err := rig.ReadFigures(ctx, s.url)
		if err != nil {
			return err
		}
		addServer(r, s, after, (b.Clock.Monotonic() - at).Seconds())
	}
	if b.Workers == 0 {
		return nil
	}
	var err error
	r.IdleWorkers, err = b.watchWorkers(ctx, all[0], report.NodeFigures{CPUPercent: r.CPUPercent, RSSMb: r.RSSMb})
	return err
}

// addServer adds what a server has used.
func addServer(r *report.Result, s *server, after rig.Figures, seconds float64) {
	f := report.NodeFigures{
		Node: s.id, CPUPercent: after.CPUSince(s.before, seconds), RSSMb: after.RSS / (1 << 20), ReadyMs: s.readyMs,
		QueriesPerSecond: after.QueriesSince(s.before, seconds),
	}
	r.CPUPercent, r.RSSMb = r.CPUPercent+f.CPUPercent, r.RSSMb+f.RSSMb
	if r.Nodes == 1 {
		r.QueriesPerSecond = f.QueriesPerSecond
		return
	}
	r.PerNode = append(r.PerNode, f)
}

// startServer starts a server that has the store, but no folder, port or name,
// in common with others.
func (b Servers) startServer(ctx context.Context, cfg config.Config, i int) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	s := &server{id: cfg.Node.ID, url: "http://" + addr, began: b.Clock.Monotonic()}
	folder := cfg.DataDir
	if b.Nodes > 1 {
		s.id = "bench-" + strconv.Itoa(i+1)
		folder += "/" + s.id
	}
	s.process = exec.CommandContext(ctx, self, "server")
	s.process.Env = append(os.Environ(), "PS_DATA_DIR="+folder, "PS_SERVER_ADDR="+addr, "PS_LOG_LEVEL=error",
		"PS_PROFILE="+cfg.Profile,
		"PS_STORE_DRIVER="+cfg.Store.Driver, "PS_STORE_DSN="+cfg.Store.DSN, "PS_NODE_ID="+s.id,
		"PS_AUTH_INITIAL_ADMIN_PASSWORD="+rig.Password,
		"PS_REDIS_ADDRS="+strings.Join(cfg.Redis.Addrs, ","), "PS_REDIS_KEY_PREFIX="+cfg.Redis.KeyPrefix)
	if b.Workers > 0 {
		s.process.Env = append(s.process.Env, "PS_WORKER_MAX_CONNECTIONS="+strconv.Itoa(2*b.Workers))
	}
	s.process.Stdout, s.process.Stderr = io.Discard, b.Progress
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return s, nil
}

// freeAddr is an address of this machine that nobody listens on.
func freeAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", rig.FreePort)
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

func (b Servers) awaitReady(ctx context.Context, s *server) error {
	for !answers(ctx, s.url+"/readyz") {
		if b.Clock.Monotonic()-s.began > readyBound {
			return fmt.Errorf("the server was not ready within %s", readyBound)
		}
		if err := b.Sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	s.readyMs = float64((b.Clock.Monotonic() - s.began).Microseconds()) / 1000
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

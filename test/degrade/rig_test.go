// Package degrade_test holds the product to what it promises when its store or
// Redis is away, slow or silent: one node in this process, behind proxies.
package degrade_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

const adminPassword = "correct horse battery"

// within bounds the wait for something that must happen.
const within = 20 * time.Second

// hasServices reports whether there is a MariaDB and a Redis to test with.
func needServices(t *testing.T) {
	t.Helper()
	dbtest.NeedMySQL(t)
	redistest.NeedRedis(t)
}

// behind gives the DSN of a scratch database behind a proxy.
func behind(t *testing.T) (dsn string, p *rig.Proxy) {
	t.Helper()
	return through(t, dbtest.Migrated(t).DSN)
}

// through puts a proxy before a database.
func through(t *testing.T, direct string) (dsn string, p *rig.Proxy) {
	t.Helper()
	parsed, err := mysql.ParseDSN(direct)
	require.NoError(t, err)
	p = proxy(t, parsed.Addr)
	parsed.Addr = p.Addr()
	return parsed.FormatDSN(), p
}

func proxy(t *testing.T, upstream string) *rig.Proxy {
	t.Helper()
	p, err := rig.NewProxy(upstream)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// settings are those of a node of a cluster.
func settings(t *testing.T, dsn, redis string, more map[string]string) config.Config {
	t.Helper()
	flags := map[string]string{
		"profile": "cluster", "dataDir": t.TempDir(), "server.addr": "127.0.0.1:0", "server.shutdownGraceSec": "0",
		"node.id":                   "node-1",
		"auth.initialAdminPassword": adminPassword, "store.dsn": dsn, "redis.addrs": redis, "server.requestTimeoutSec": "1",
		"server.startWaitSec": "0",
	}
	for key, value := range more {
		flags[key] = value
	}
	cfg, _, err := config.Load(config.Options{Flags: flags})
	require.NoError(t, err)
	return cfg
}

// open makes a node that is not started.
func open(ctx context.Context, t *testing.T, cfg config.Config, log io.Writer) (*server.Server, error) {
	t.Helper()
	machine := clock.NewSystem()
	executor, err := executors.New(cfg, executors.Options{Clock: machine, Served: true})
	require.NoError(t, err)
	return server.New(ctx, cfg, app.Options{
		Clock: machine, Executor: executor, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
}

// node is a running one and an admin who calls it.
type node struct {
	*server.Server
	t     *testing.T
	log   *logtest.Log
	token string
}

func start(t *testing.T, cfg config.Config) *node {
	t.Helper()
	n := &node{t: t, log: &logtest.Log{}}
	var err error
	n.Server, err = open(t.Context(), t, cfg, n.log)
	require.NoError(t, err)
	require.NoError(t, n.Start())
	t.Cleanup(func() { require.NoError(t, n.Stop(context.Background())) })
	a := n.call("POST", "/api/v1/auth/login", `{"username":"admin","password":"`+adminPassword+`"}`)
	require.Equal(t, 200, a.status, a.body)
	n.token = a.field("token").(string)
	return n
}

// answer is what a call came to.
type answer struct {
	status int
	header http.Header
	body   string
	took   time.Duration
	err    error
}

func (a answer) field(name string) any {
	var fields map[string]any
	_ = json.Unmarshal([]byte(a.body), &fields)
	return fields[name]
}

// call sends and reads, at most for a while; pairs are headers.
func (n *node) call(method, path, body string, pairs ...string) (a answer) {
	began := time.Now()
	defer func() { a.took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, n.URL()+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	if n.token != "" {
		req.Header.Set("Authorization", "Bearer "+n.token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		req.Header.Set(pairs[i], pairs[i+1])
	}
	// Each on a connection of its own, as probes come: on a kept one it would
	// wait until the audit row of the call before is stored or given up.
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: string(text), err: err}
}

// job makes one that does nothing, each interval where there is one.
func (n *node) job(name string, intervalMs string) string {
	n.t.Helper()
	schedule := ""
	if intervalMs != "" {
		schedule = `,"schedule":{"kind":"FIXED_RATE","intervalMs":` + intervalMs + `}`
	}
	a := n.call("POST", "/api/v1/jobs", `{"name":"`+name+`","jobType":"CUSTOM","jobClass":"noop"`+schedule+`}`)
	require.Equal(n.t, 201, a.status, a.body)
	return a.field("id").(string)
}

// degraded are the parts that /readyz names.
func (n *node) degraded() (status int, parts []string) {
	a := n.call("GET", "/readyz", "")
	list, _ := a.field("degraded").([]any)
	for _, one := range list {
		parts = append(parts, one.(map[string]any)["part"].(string))
	}
	return a.status, parts
}

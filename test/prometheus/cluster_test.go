package prometheus_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/user"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

const (
	password     = "a-password-of-the-test"
	metricsToken = "a-token-of-the-test-for-figures"
	// slots are those of a node.
	slots = 16
	// lease is that of a node. A scrape each second sees what lasts until it ends: a node that is SUSPECT. And a busy
	// machine does not keep a node from beating for so long.
	lease = 10 * time.Second
)

// cluster is a real one, which Prometheus scrapes.
type cluster struct {
	t     *testing.T
	rig   *rig.Rig
	prom  *prometheus
	token string
	// long is a job that keeps a slot longer than it takes a busy machine to fill all slots.
	long string
}

// startCluster starts nodes on MariaDB, Redis and Kafka of their own names, and a Prometheus.
func startCluster(t *testing.T, nodes int) *cluster {
	t.Helper()
	dsn := dbtest.Migrated(t).DSN
	redistest.NeedRedis(t)
	brokers := kafkatest.Config(t)
	dir := t.TempDir()
	binary, err := rig.Build(t.Context(), dir)
	require.NoError(t, err)
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	c := &cluster{t: t}
	c.rig, err = rig.NewRig(t.Context(), rig.Options{
		Binary: binary, Dir: dir, DSN: dsn, Redis: redistest.Config().Addrs[0], Nodes: nodes, Doors: true,
		Beat: 500 * time.Millisecond, Lease: lease, CommandSlots: 2, Password: password,
		Key: base64.StdEncoding.EncodeToString(key),
	})
	t.Cleanup(c.rig.Close)
	require.NoError(t, err)
	self, err := user.Current()
	require.NoError(t, err)
	var targets []string
	for _, m := range c.rig.Members {
		m.Node.Env = append(m.Node.Env, "PS_SERVER_METRICSTOKEN="+metricsToken,
			"PS_KAFKA_BROKERS="+strings.Join(brokers.Brokers, ","), "PS_KAFKA_TOPICPREFIX="+brokers.TopicPrefix,
			"PS_EXECUTOR_COMMAND_USER="+self.Username, fmt.Sprintf("PS_EXECUTOR_SLOTS=%d", slots))
		targets = append(targets, m.Node.Addr)
	}
	require.NoError(t, c.rig.Start(t.Context()))
	c.prom = startPrometheus(t, metricsToken, targets)
	c.token = c.call("POST", "/api/v1/auth/login",
		map[string]any{"username": "admin", "password": password})["token"].(string)
	return c
}

// call sends to the first node, which must answer well.
func (c *cluster) call(method, path string, body any) map[string]any {
	c.t.Helper()
	status, answer := c.try(c.t.Context(), method, path, body)
	require.Less(c.t, status, 300, "%s %s: %v", method, path, answer)
	return answer
}

func (c *cluster) try(ctx context.Context, method, path string, body any) (int, map[string]any) {
	c.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(c.t, err)
	req, err := http.NewRequestWithContext(ctx, method, c.rig.Members[0].Base()+path, bytes.NewReader(raw))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	answer := map[string]any{}
	_ = json.Unmarshal(text, &answer) // an empty answer has none
	return res.StatusCode, answer
}

// page returns what the first node shows to a scraper.
func (c *cluster) page(authorization string, status int) string {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.rig.Members[0].Base()+"/metrics", nil)
	require.NoError(c.t, err)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	require.Equal(c.t, status, res.StatusCode)
	return string(text)
}

// job makes one and returns its id. every is in ms; 0 is a job without a plan.
func (c *cluster) job(name string, every int, more map[string]any) string {
	c.t.Helper()
	body := map[string]any{"name": name, "jobType": "CUSTOM", "jobClass": "noop"}
	if every > 0 {
		body["schedule"] = map[string]any{"kind": "FIXED_RATE", "intervalMs": every}
	}
	for k, v := range more {
		body[k] = v
	}
	return c.call("POST", "/api/v1/jobs", body)["id"].(string)
}

// work makes jobs that bring executions into each state.
func (c *cluster) work() {
	c.t.Helper()
	sleep := func(ms int) map[string]any {
		return map[string]any{"jobClass": "sleep", "jobData": map[string]any{"ms": ms}}
	}
	with := func(m map[string]any, k string, v any) map[string]any {
		m[k] = v
		return m
	}
	c.channels()
	c.worker()
	c.job("good", 200, nil)
	c.job("failing", 500, map[string]any{"jobClass": "fail", "jobData": map[string]any{"message": "as it should"}})
	c.job("dead", 1000, map[string]any{
		"jobClass": "fail", "jobData": map[string]any{"message": "as it should"},
		"retryPolicy": map[string]any{"maxRetries": 2, "intervalMs": 1500},
	})
	c.job("slow", 1000, with(sleep(5000), "timeoutSec", 1))
	c.job("overlapping", 500, with(sleep(1200), "overlapPolicy", "DISCARD"))
	c.job("one by one", 500, with(with(sleep(800), "overlapPolicy", "SERIAL"), "maxQueued", 20))
	c.job("replaced", 500, with(sleep(1200), "overlapPolicy", "REPLACE"))
	c.job("command", 1000, map[string]any{
		"jobType": "COMMAND", "jobClass": "", "jobData": map[string]any{"command": []string{"sh", "-c", "sleep 2"}},
	})
	c.call("POST", "/api/v1/groups", map[string]any{"name": "narrow", "maxConcurrency": 1})
	c.job("first", 1000, with(sleep(900), "group", "narrow"))
	c.job("second", 1000, with(sleep(900), "group", "narrow"))
	c.job("nowhere", 5000, map[string]any{"routing": map[string]any{"labels": map[string]string{"no": "node"}}})
	c.long = c.job("long", 0, sleep(180_000))
}

// worker has a worker run a job each second.
func (c *cluster) worker() {
	c.t.Helper()
	c.call("PUT", "/api/v1/worker-groups/shop", map[string]any{"jobGroups": []string{"default"}})
	token := c.call("POST", "/api/v1/worker-groups/shop/tokens", map[string]any{
		"name": "test", "expiresAt": time.Now().Add(time.Hour),
	})["token"].(string)
	var servers []string
	for _, m := range c.rig.Members {
		servers = append(servers, m.Base())
	}
	w, err := worker.New(worker.Options{
		Servers: servers, Token: token, Group: "shop", Instance: "one", Logger: slog.New(slog.DiscardHandler),
		Handlers: map[string]sdk.Handler{"settle": sdk.HandlerFunc(func(context.Context, *sdk.Run) error { return nil })},
	})
	require.NoError(c.t, err)
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { _ = w.Run(ctx) }) // the figures of the test tell whether it works
	c.t.Cleanup(func() {
		stop()
		ended.Wait()
	})
	c.job("settled", 1000, map[string]any{"jobClass": "settle", "routing": map[string]any{"workers": "shop"}})
}

// channels has failures told to a receiver that takes messages, and to one that refuses them.
func (c *cluster) channels() {
	c.t.Helper()
	var ids []string
	for name, status := range map[string]int{"good": http.StatusNoContent, "refusing": http.StatusGone} {
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		}))
		c.t.Cleanup(receiver.Close)
		ids = append(ids, c.call("POST", "/api/v1/alert-channels", map[string]any{
			"name": name, "type": "WEBHOOK", "config": map[string]any{"url": receiver.URL},
		})["id"].(string))
	}
	c.call("POST", "/api/v1/alert-rules", map[string]any{
		"name": "told", "type": "JOB_FAILED", "level": "WARNING", "notify": "EACH", "channelIds": ids,
	})
}

// overload triggers more long runs than there are slots.
func (c *cluster) overload() {
	c.t.Helper()
	for range slots*len(c.rig.Members) + 10 {
		c.call("POST", "/api/v1/jobs/"+url.PathEscape(c.long)+"/trigger", map[string]any{})
	}
}

// later is one of the last nodes, so that the calls of the test go on.
func (c *cluster) later(n int) *rig.Member { return c.rig.Members[len(c.rig.Members)-1-n] }

func (c *cluster) node(n int) string { return fmt.Sprintf("/api/v1/nodes/%s", c.later(n).ID) }

// Package redistest connects tests to the Redis that PS_TEST_REDIS_ADDR names. Several packages
// use it at once, so each test uses keys of its own.
package redistest

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn"
)

// The environment of the tests. Several addresses, separated by commas, are nodes of a cluster;
// with the name of a master they are sentinels.
const (
	envAddr    = "PS_TEST_REDIS_ADDR"
	envMaster  = "PS_TEST_REDIS_MASTER"
	envRequire = "PS_TEST_REQUIRE_SERVICES"

	// Each also uses these: a Sentinel with the name of its master, and nodes of a cluster.
	envSentinel       = "PS_TEST_REDIS_SENTINEL_ADDR"
	envSentinelMaster = "PS_TEST_REDIS_SENTINEL_MASTER"
	envCluster        = "PS_TEST_REDIS_CLUSTER_ADDRS"
)

// has reports whether a server is given. Where services are required, its absence fails
// the test.
func has(t testing.TB, name string) bool {
	t.Helper()
	if os.Getenv(name) != "" {
		return true
	}
	if os.Getenv(envRequire) == "1" {
		require.Fail(t, "no Redis server", "%s is not set and %s=1", name, envRequire)
	}
	return false
}

// NeedRedis skips the test without a server, or fails it where services are required.
func NeedRedis(t testing.TB) {
	t.Helper()
	need(t, envAddr)
}

func need(t testing.TB, name string) {
	t.Helper()
	if !has(t, name) {
		t.Skipf("it needs Redis: set %s, or run make test", name)
	}
}

// Each runs a test on every kind of Redis: one server, a master behind a Sentinel, a cluster.
// It skips kinds that are not there.
func Each(t *testing.T, test func(t *testing.T, cfg config.Redis)) {
	t.Helper()
	for _, kind := range []struct{ name, env, master string }{
		{"server", envAddr, os.Getenv(envMaster)},
		{"sentinel", envSentinel, os.Getenv(envSentinelMaster)},
		{"cluster", envCluster, ""},
	} {
		t.Run(kind.name, func(t *testing.T) {
			need(t, kind.env)
			test(t, config.Redis{Addrs: strings.Split(os.Getenv(kind.env), ","), MasterName: kind.master})
		})
	}
}

// Config returns the configuration of the server.
func Config() config.Redis {
	return config.Redis{Addrs: strings.Split(os.Getenv(envAddr), ","), MasterName: os.Getenv(envMaster)}
}

// Open connects, and closes the connection at the end of the test.
func Open(t testing.TB, cfg config.Redis) redis.UniversalClient {
	t.Helper()
	client, err := redisconn.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// Gone returns the configuration of a server that does not exist.
func Gone(t testing.TB) config.Redis {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return config.Redis{Addrs: []string{l.Addr().String()}}
}

// Forget removes all keys with a prefix from the server or the whole cluster, and the scripts
// that it knows.
func Forget(t testing.TB, client redis.UniversalClient, prefix string) {
	t.Helper()
	forget := func(ctx context.Context, node *redis.Client) error {
		keys := node.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for keys.Next(ctx) {
			if err := node.Del(ctx, keys.Val()).Err(); err != nil {
				return err
			}
		}
		if err := keys.Err(); err != nil {
			return err
		}
		return node.ScriptFlush(ctx).Err()
	}
	var err error
	switch c := client.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(t.Context(), forget)
	case *redis.Client:
		err = forget(t.Context(), c)
	}
	require.NoError(t, err)
}

package degrade_test

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// canary is a password that must not be seen again.
const canary = "canary-password-7"

// beginning is a start that may fail.
type beginning struct {
	dsn  string
	more map[string]string
	// want is in the error; it takes no longer than most.
	want []string
	most time.Duration
}

func TestAStartThatCannotSucceedSaysWhatToMend(t *testing.T) {
	needServices(t)
	good := dbtest.MySQL(t)
	dsn := func(change func(c *mysql.Config)) string {
		c, err := mysql.ParseDSN(good.DSN)
		require.NoError(t, err)
		change(c)
		return c.FormatDSN()
	}
	newer, older := dbtest.Migrated(t).DSN, dbtest.Migrated(t).DSN
	run(t, newer, "INSERT INTO scheduler_schema_version (version_id, is_applied) VALUES (99999, 1)",
		"UPDATE scheduler_schema_compat SET min_version = 99999")
	run(t, older, "DELETE FROM scheduler_schema_version ORDER BY version_id DESC LIMIT 1")
	silent := proxy(t, "127.0.0.1:1")
	silent.Set(rig.BlackHole)
	gone, redis := redistest.Gone(t).Addrs[0], redistest.Config().Addrs[0]
	const wait = "60" // what waiting does not mend is told at once all the same
	for name, b := range map[string]beginning{
		"store unreachable": {dsn: dsn(func(c *mysql.Config) {
			c.Addr = gone
		}), want: []string{gone, "connection refused", "store.dsn (PS_STORE_DSN)"}},
		"store silent": {dsn: dsn(func(c *mysql.Config) {
			c.Addr = silent.Addr()
		}), want: []string{silent.Addr(), "no answer in time", "PS_STORE_DSN"}, most: 30 * time.Second},
		"store on a wrong host": {dsn: dsn(func(c *mysql.Config) {
			c.Addr = "no-such-host.invalid:3306"
		}), want: []string{"the host is not known", "PS_STORE_DSN"}, most: 30 * time.Second},
		"store that is a Redis": {dsn: dsn(func(c *mysql.Config) {
			c.Addr = redis
		}), want: []string{redis, "PS_STORE_DSN"}, most: 30 * time.Second},
		"DSN malformed": {
			dsn:  "scheduler:" + canary + "@tcp(127.0.0.1",
			more: map[string]string{"server.startWaitSec": wait}, want: []string{"store.dsn (PS_STORE_DSN) is not of the form"},
		},
		"DSN without an address": {
			dsn: "scheduler:" + canary + "/x", more: map[string]string{"server.startWaitSec": wait},
			want: []string{"PS_STORE_DSN"},
		},
		"DSN without a database": {dsn: dsn(func(c *mysql.Config) {
			c.DBName = ""
		}), more: map[string]string{"server.startWaitSec": wait}, want: []string{"names no database"}},
		"wrong password": {dsn: dsn(func(c *mysql.Config) {
			c.Passwd = canary
		}), more: map[string]string{"server.startWaitSec": wait}, want: []string{"refuses the user", "PS_STORE_DSN"}},
		"unknown user": {dsn: dsn(func(c *mysql.Config) {
			c.User = "nobody-at-all"
		}), more: map[string]string{"server.startWaitSec": wait}, want: []string{`refuses the user "nobody-at-all"`}},
		"unknown database": {
			dsn: dsn(func(c *mysql.Config) {
				c.DBName = "ps_test_none"
			}), more: map[string]string{"server.startWaitSec": wait},
			want: []string{`no database "ps_test_none"`, "PS_STORE_DSN"},
		},
		"newer schema": {
			dsn: newer, more: map[string]string{"server.startWaitSec": wait},
			want: []string{"version 99999, newer than this program"},
		},
		"older schema": {
			dsn: older, more: map[string]string{"store.autoMigrate": "false"},
			want: []string{"this program needs", "store.autoMigrate (PS_STORE_AUTO_MIGRATE)"},
		},
		"Redis unreachable": {
			more: map[string]string{"redis.required": "true", "redis.addrs": gone},
			want: []string{"redis.addrs (PS_REDIS_ADDRS: " + gone},
		},
		"Redis silent": {
			more: map[string]string{"redis.required": "true", "redis.addrs": silent.Addr()},
			want: []string{"redis.addrs (PS_REDIS_ADDRS: " + silent.Addr()}, most: 30 * time.Second,
		},
		"Redis with wrong sign": {more: map[string]string{
			"redis.required": "true", "redis.username": "nobody",
			"redis.password": canary, "server.startWaitSec": wait,
		}, want: []string{"redis.password (PS_REDIS_PASSWORD)"}},
		"Redis database too high": {more: map[string]string{
			"redis.required": "true", "redis.db": "99999",
			"server.startWaitSec": wait,
		}, want: []string{"redis.db (PS_REDIS_DB)"}},
		"Redis without TLS": {
			more: map[string]string{"redis.required": "true", "redis.tls": "true"},
			want: []string{"redis.tls (PS_REDIS_TLS)"}, most: 30 * time.Second,
		},
		"Redis that is no cluster": {
			more: map[string]string{"redis.required": "true", "redis.addrs": redis + "," + redis, "server.startWaitSec": wait},
			want: []string{"Redis is no cluster", "PS_REDIS_ADDRS"},
		},
		"Redis without sentinels": {
			more: map[string]string{"redis.required": "true", "redis.masterName": "mymaster"},
			want: []string{"redis.masterName (PS_REDIS_MASTER_NAME: mymaster)"}, most: 30 * time.Second,
		},
		"Redis that is a store": {
			more: map[string]string{"redis.required": "true", "redis.addrs": addressOf(t, good.DSN)},
			want: []string{"PS_REDIS_ADDRS"}, most: 30 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) { b.fails(t, good.DSN, redis) })
	}
}

func (b beginning) fails(t *testing.T, dsn, redis string) {
	t.Helper()
	if b.dsn != "" {
		dsn = b.dsn
	}
	if b.most == 0 {
		b.most = 20 * time.Second
	}
	log := &logtest.Log{}
	began := time.Now()
	_, err := open(t.Context(), t, settings(t, dsn, redis, b.more), log)
	require.Error(t, err)
	for _, want := range b.want {
		require.ErrorContains(t, err, want)
	}
	require.Less(t, time.Since(began), b.most)
	require.NotContains(t, err.Error()+log.String(), canary)
	require.NotRegexp(t, regexp.MustCompile(`\n`), err.Error(), "one line")
}

func addressOf(t *testing.T, dsn string) string {
	t.Helper()
	c, err := mysql.ParseDSN(dsn)
	require.NoError(t, err)
	return c.Addr
}

func run(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer db.Close()
	for _, one := range statements {
		_, err := db.ExecContext(t.Context(), one)
		require.NoError(t, err)
	}
}

func TestAStartWaitsForItsServicesAndShowsIt(t *testing.T) {
	needServices(t)
	dsn, store := behind(t)
	redis := proxy(t, redistest.Config().Addrs[0])
	store.Set(rig.Cut)
	redis.Set(rig.Cut)
	listen := redistest.Gone(t).Addrs[0] // a free port
	cfg := settings(t, dsn, redis.Addr(), map[string]string{
		"server.addr": listen, "server.startWaitSec": "60",
		"redis.required": "true",
	})
	log := &logtest.Log{}
	type opened struct {
		s   *server.Server
		err error
	}
	done := make(chan opened, 1)
	go func() {
		s, err := open(context.Background(), t, cfg, log)
		done <- opened{s, err}
	}()
	probe := func(path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listen+path, http.NoBody)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, ""
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(text)
	}
	shows := func(what string) func() bool {
		return func() bool { status, text := probe("/readyz"); return status == 503 && strings.Contains(text, what) }
	}
	require.Eventually(t, shows("it waits for the store"), within, 50*time.Millisecond)
	alive, _ := probe("/healthz")
	require.Equal(t, 200, alive)
	status, text := probe("/api/v1/jobs")
	require.Equal(t, 503, status)
	require.Contains(t, text, `"code":"starting"`)
	require.Contains(t, log.String(), "the start waits for the store")
	store.Set(rig.Pass)
	require.Eventually(t, shows("it waits for Redis"), within, 50*time.Millisecond)
	redis.Set(rig.Pass)
	o := <-done
	require.NoError(t, o.err)
	require.NoError(t, o.s.Start())
	ready, _ := probe("/readyz")
	require.Equal(t, 200, ready)
	require.NoError(t, o.s.Stop(context.Background()))
}

func TestAStartThatWaitsCanBeStopped(t *testing.T) {
	needServices(t)
	cfg := settings(t, "u:"+canary+"@tcp("+redistest.Gone(t).Addrs[0]+")/x", redistest.Config().Addrs[0],
		map[string]string{"server.startWaitSec": "600"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := open(ctx, t, cfg, io.Discard); done <- err }()
	cancel()
	select {
	case err := <-done:
		require.Error(t, err)
	case <-time.After(within):
		require.Fail(t, "the start goes on waiting")
	}
}

func TestTheServersModesDoNotMatter(t *testing.T) {
	needServices(t)
	cfg := dbtest.MySQL(t)
	admin := dbtest.Raw(t, cfg)
	for _, name := range []string{"sql_mode", "time_zone"} {
		var before string
		require.NoError(t, admin.QueryRowContext(t.Context(), "SELECT @@GLOBAL."+name).Scan(&before))
		t.Cleanup(func() {
			_, err := admin.ExecContext(context.Background(), "SET GLOBAL "+name+" = ?", before)
			require.NoError(t, err)
		})
	}
	for mode, zone := range map[string]string{
		"ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH": "+09:00", "": "-11:00",
	} {
		for name, value := range map[string]string{"sql_mode": mode, "time_zone": zone} {
			_, err := admin.ExecContext(t.Context(), "SET GLOBAL "+name+" = ?", value)
			require.NoError(t, err)
		}
		n := start(t, settings(t, dbtest.Migrated(t).DSN, redistest.Config().Addrs[0], nil))
		id := n.job(`it\\'s \"quoted\" || 'odd' \\`, "100")
		require.Equal(t, `it\'s "quoted" || 'odd' \`, n.call("GET", "/api/v1/jobs/"+id, "").field("name"))
		require.Eventually(t, func() bool {
			items, _ := n.call("GET", "/api/v1/executions?status=SUCCESS&jobId="+id, "").field("items").([]any)
			return len(items) > 3
		}, within, 100*time.Millisecond)
		row := n.call("GET", "/api/v1/executions?limit=1&jobId="+id, "").field("items").([]any)[0].(map[string]any)
		at, err := time.Parse(time.RFC3339, row["scheduledTime"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, time.Minute)
	}
}

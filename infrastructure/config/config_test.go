package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func fileWith(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func load(t *testing.T, o config.Options) config.Config {
	t.Helper()
	c, _, err := config.Load(o)
	require.NoError(t, err)
	return c
}

func problemsOf(t *testing.T, o config.Options) map[string]string {
	t.Helper()
	_, _, err := config.Load(o)
	var problems config.Problems
	require.True(t, errors.As(err, &problems), "want problems, got %v", err)
	byKey := map[string]string{}
	for _, p := range problems {
		byKey[p.Key] = p.Message
	}
	return byKey
}

func TestDefaultsNeedNoConfiguration(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{})
	require.Equal(t, config.ProfileStandalone, c.Profile)
	require.Equal(t, "127.0.0.1:8080", c.Server.Addr)
	require.Equal(t, []string{"api", "scheduler", "executor"}, c.Server.Roles)
	require.Equal(t, 30, c.Server.ShutdownGraceSec)
	require.Equal(t, "./data", c.DataDir)
	require.Equal(t, config.DriverSQLite, c.Store.Driver)
	require.Equal(t, "FULL", c.Store.Synchronous)
	require.True(t, c.Store.AutoMigrate)
	require.True(t, c.Executor.Command.Enabled)
	require.True(t, c.Executor.HTTP.AllowPrivate)
	require.Equal(t, 512, c.Executor.Slots)
	require.Equal(t, min(16, 2*runtime.GOMAXPROCS(0)), c.Executor.Command.Slots)
	require.Equal(t, config.Retention{
		ExecutionsDays: 30, LogsDays: 30, MetricsDays: 15, AuditDays: 365, NodesDays: 7, AlertsDays: 90,
		JobVersions: 100,
	}, c.Retention)
	require.Equal(t, "scheduler", c.Kafka.TopicPrefix)
	require.True(t, strings.HasSuffix(c.Node.ID, "-8080"), c.Node.ID)
	require.Equal(t, "127.0.0.1", c.Node.IP)
}

func TestClusterDefaultsAndRequirements(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{Flags: map[string]string{
		"profile": "cluster", "store.dsn": "u:longpassword@tcp(db:3306)/s", "redis.addrs": "r:6379",
	}})
	require.Equal(t, ":8080", c.Server.Addr)
	require.Equal(t, config.DriverMySQL, c.Store.Driver)
	require.False(t, c.Executor.Command.Enabled)
	require.False(t, c.Executor.HTTP.AllowPrivate)
	require.Equal(t, []int{500, 3000, 32}, []int{c.Engine.BeatMs, c.Engine.LeaseMs, c.Store.MaxConns})

	missing := problemsOf(t, config.Options{Flags: map[string]string{"profile": "cluster"}})
	require.Contains(t, missing, "store.dsn")
	require.Contains(t, missing, "redis.addrs")
	require.Contains(t, problemsOf(t, config.Options{Flags: map[string]string{
		"profile": "cluster", "store.driver": "sqlite", "redis.addrs": "r:6379",
	}}), "store.driver")
}

func TestFlagsBeatEnvironmentBeatsFile(t *testing.T) {
	t.Parallel()
	file := fileWith(t, "server:\n  addr: 127.0.0.1:1111\nlog:\n  level: warn\nexecutor:\n  slots: 7\n")
	env := []string{"PS_SERVER_ADDR=127.0.0.1:2222", "PS_LOG_LEVEL=error"}
	c := load(t, config.Options{File: file, Environ: env, Flags: map[string]string{"server.addr": "127.0.0.1:3333"}})
	require.Equal(t, "127.0.0.1:3333", c.Server.Addr)
	require.Equal(t, "error", c.Log.Level)
	require.Equal(t, 7, c.Executor.Slots)
}

func TestFileMayBeNamedByTheEnvironment(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{Environ: []string{"PS_CONFIG=" + fileWith(t, "executor: {slots: 9}")}})
	require.Equal(t, 9, c.Executor.Slots)
}

func TestEnvironmentSpelling(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"PS_AUTH_INITIALADMINPASSWORD", "PS_AUTH_INITIAL_ADMIN_PASSWORD", "PS_auth_initialAdminPassword",
		"ps_Auth_Initial_admin_password",
	} {
		c := load(t, config.Options{Environ: []string{name + "=correct horse battery"}})
		require.Equal(t, "correct horse battery", c.Auth.InitialAdminPassword, name)
	}
}

func TestEnvironmentTypes(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{Environ: []string{
		"PS_SERVER_ROLES=api, scheduler", "PS_STORE_AUTOMIGRATE=false", "PS_NODE_WEIGHT=5", "PS_NODE_LABELS=zone=a,disk=ssd",
		"PS_EXECUTOR_HTTP_ALLOWCIDRS=10.0.0.0/8,192.168.1.1", "HOME=/x", "PATH=/bin",
	}})
	require.Equal(t, []string{"api", "scheduler"}, c.Server.Roles)
	require.False(t, c.Store.AutoMigrate)
	require.Equal(t, 5, c.Node.Weight)
	require.Equal(t, map[string]string{"zone": "a", "disk": "ssd"}, c.Node.Labels)
	require.Equal(t, []string{"10.0.0.0/8", "192.168.1.1"}, c.Executor.HTTP.AllowCIDRs)
}

func TestConflictingSpellingsRefuse(t *testing.T) {
	t.Parallel()
	p := problemsOf(t, config.Options{Environ: []string{"PS_LOG_LEVEL=info", "PS_LOGLEVEL=warn"}})
	require.Contains(t, p["log.level"], "PS_LOG_LEVEL")
}

func TestUnknownVariablesAreWarnedAbout(t *testing.T) {
	t.Parallel()
	_, warnings, err := config.Load(config.Options{Environ: []string{
		"PS_SERVR_ADDR=secretish", "PS_TEST_MYSQL_DSN=x",
		"PS_FAILPOINT=a", "PS_FAILPOINTS=b",
	}})
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "PS_SERVR_ADDR")
	require.NotContains(t, warnings[0], "secretish")
}

func TestUnknownKeysInTheFileRefuse(t *testing.T) {
	t.Parallel()
	p := problemsOf(t, config.Options{File: fileWith(t, "server:\n  adress: x\n  Addr: y\nfoo: 1\nstore: 5\n")})
	require.Contains(t, p, "server.adress")
	require.Contains(t, p["server.Addr"], "did you mean server.addr?")
	require.Contains(t, p, "foo")
	require.Contains(t, p, "store")
	require.Contains(t, problemsOf(t, config.Options{Flags: map[string]string{"server.port": "1"}}), "server.port")
}

func TestLabelsKeepCaseAndDots(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{File: fileWith(t, "node:\n  labels: {Team: A, a.b: c, n: 1}\n")})
	require.Equal(t, map[string]string{"Team": "A", "a.b": "c", "n": "1"}, c.Node.Labels)
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dsn")
	require.NoError(t, os.WriteFile(path, []byte("u:hunter2hunter2@tcp(db:3306)/s\n"), 0o600))
	c := load(t, config.Options{Environ: []string{"PS_STORE_DSN_FILE=" + path, "PS_STORE_DRIVER=mysql"}})
	require.Equal(t, "u:hunter2hunter2@tcp(db:3306)/s", c.Store.DSN)

	p := problemsOf(t, config.Options{Environ: []string{"PS_REDIS_PASSWORD_FILE=" + path + ".missing"}})
	require.Contains(t, p, "redis.password")
}

func TestCertificateFileKeysAreNotSecretFiles(t *testing.T) {
	t.Parallel()
	p := problemsOf(t, config.Options{Environ: []string{"PS_SERVER_TLS_CERT_FILE=/nonexistent/cert.pem"}})
	require.Contains(t, p["server.tls.certFile"], "/nonexistent/cert.pem")
	require.Contains(t, p, "server.tls")
}

func TestKnownDefaultSecretsRefuse(t *testing.T) {
	t.Parallel()
	for _, weak := range []string{"admin", "123456", "default_token", "Password", "changeme", " admin "} {
		for key, value := range map[string]string{
			"auth.initialAdminPassword": weak, "redis.password": weak, "kafka.sasl.password": weak,
			"store.dsn": "u:" + weak + "@tcp(h:1)/s",
		} {
			p := problemsOf(t, config.Options{Flags: map[string]string{key: value}})
			require.Contains(t, p[key], "well-known", "%s=%q", key, weak)
		}
	}
	p := problemsOf(t, config.Options{Flags: map[string]string{"auth.initialAdminPassword": "short7!"}})
	require.Contains(t, p["auth.initialAdminPassword"], "8 to 256")
	for _, token := range []string{
		"fifteen-letters", "sixteen letters!", strings.Repeat("x", 513), "ünsafe-metrics-token",
		"a-token\nof-two-lines",
	} {
		require.Contains(t, problemsOf(t,
			config.Options{Flags: map[string]string{"server.metricsToken": token}})["server.metricsToken"], "16 to 512", token)
	}
	require.Equal(t, "sixteen-letters-",
		load(t, config.Options{Flags: map[string]string{"server.metricsToken": "sixteen-letters-"}}).Server.MetricsToken)
}

func TestEveryProblemAtOnceAndNoSecretInIt(t *testing.T) {
	t.Parallel()
	_, _, err := config.Load(config.Options{Flags: map[string]string{
		"server.addr": "nonsense", "server.roles": "api,boss", "server.timeZone": "Mars/Phobos", "log.level": "loud",
		"node.weight":           "0",
		"server.trustedProxies": "10.0.0.0/99", "store.driver": "mysql", "redis.addrs": "nohost",
		"kafka.sasl.mechanism": "PLAIN",
		"server.publicUrl":     "ftp://x", "executor.slots": "many", "store.autoMigrate": "perhaps", "node.ip": "here",
		"node.id":               "a b",
		"engine.scanIntervalMs": "5000", "retention.logsDays": "99999", "executor.http.allowCIDRs": "x",
		"kafka.topicPrefix":        "a/b",
		"executor.http.maxPerHost": "0", "executor.http.breakAfter": "-1", "executor.http.breakSec": "0",
		"redis.password": "admin", "engine.leaseMs": "2999", "engine.beatMs": "500", "store.maxConns": "11",
		"node.port": "65536", "monitoring.heartbeatUrl": "ftp://x", "monitoring.watchdogUrl": "here",
		"monitoring.weeklyReport.timeZone": "Local", "tracing.endpoint": "http://me:canary-9@collector:4318",
	}})
	var p config.Problems
	require.True(t, errors.As(err, &p))
	for _, key := range []string{
		"server.addr", "server.roles", "server.timeZone", "log.level", "node.weight", "server.trustedProxies", "store.dsn",
		"redis.addrs",
		"kafka.sasl.mechanism", "server.publicUrl", "executor.slots", "store.autoMigrate", "node.ip", "node.id",
		"engine.horizonMs", "engine.leaseMs", "store.maxConns", "node.port",
		"monitoring.heartbeatUrl", "monitoring.watchdogUrl", "monitoring.weeklyReport.timeZone",
		"tracing.endpoint", "retention.logsDays", "executor.http.allowCIDRs", "kafka.topicPrefix", "redis.password",
		"executor.http.maxPerHost", "executor.http.breakAfter", "executor.http.breakSec",
	} {
		require.Contains(t, err.Error(), key+": ")
	}
	require.NotContains(t, err.Error(), "admin")
	require.NotContains(t, err.Error(), "canary")
}

func TestCommandsAreOffWhereOthersCanReachTheServer(t *testing.T) {
	t.Parallel()
	require.False(t, load(t, config.Options{Flags: map[string]string{"server.addr": ":8080"}}).Executor.Command.Enabled)
	require.True(t, load(t, config.Options{Flags: map[string]string{"server.addr": "[::1]:8080"}}).
		Executor.Command.Enabled)
	require.True(t, load(t, config.Options{Flags: map[string]string{
		"server.addr":              ":8080",
		"executor.command.enabled": "true",
	}}).Executor.Command.Enabled)
	// Calls of private networks follow the same rule.
	for addr, allowed := range map[string]bool{
		":8080": false, "0.0.0.0:8080": false, "10.0.0.1:8080": false,
		"127.0.0.1:8080": true, "[::1]:8080": true, "localhost:80": true,
	} {
		require.Equal(t, allowed,
			load(t, config.Options{Flags: map[string]string{"server.addr": addr}}).Executor.HTTP.AllowPrivate, addr)
	}
	require.True(t, load(t, config.Options{Environ: []string{
		"PS_SERVER_ADDR=:8080",
		"PS_EXECUTOR_HTTP_ALLOW_PRIVATE=true",
	}}).Executor.HTTP.AllowPrivate)
	require.False(t, load(t, config.Options{Environ: []string{"PS_EXECUTOR_HTTP_ALLOW_PRIVATE=false"}}).
		Executor.HTTP.AllowPrivate)
}

func TestMaskedHidesSecretsAndLoadsAgain(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{Flags: map[string]string{
		"store.dsn": "u:canary-1@x@tcp(db:3306)/s", "redis.password": "canary-2", "kafka.sasl.password": "canary-3",
		"auth.initialAdminPassword": "canary-4-long", "server.metricsToken": "canary-5-for-figures",
	}})
	shown, err := c.MaskedYAML()
	require.NoError(t, err)
	require.NotContains(t, shown, "canary")
	require.Contains(t, shown, "u:******@tcp(db:3306)/s")
	// A shown configuration must not pass for a real one: its stars are no password.
	require.Contains(t, problemsOf(t, config.Options{File: fileWith(t, shown)}), "redis.password")

	plain := load(t, config.Options{Flags: map[string]string{"server.addr": ":9999", "node.labels": "a.b=c"}})
	shown, err = plain.MaskedYAML()
	require.NoError(t, err)
	again := load(t, config.Options{File: fileWith(t, shown)})
	// The file names every setting, so that all of them come from there now.
	for _, e := range again.Effective() {
		require.Contains(t, []config.Source{config.SourceDefault, config.SourceFile}, e.Source, e.Name)
	}
	require.Equal(t, valuesOf(plain), valuesOf(again))
}

// valuesOf are the values of all settings, without their sources.
func valuesOf(c config.Config) map[string]any {
	values := map[string]any{}
	for _, e := range c.Effective() {
		values[e.Name] = e.Current
	}
	return values
}

func TestMaskedDSNWithoutAddressIsHiddenWhole(t *testing.T) {
	t.Parallel()
	c := config.Defaults(config.ProfileStandalone)
	c.Store.DSN = "password=canary host=db"
	require.Equal(t, "******", c.Masked()["store.dsn"])
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	require.Contains(t, problemsOf(t, config.Options{File: "/nonexistent/c.yaml"})["--config"], "does not exist")
	require.Contains(t, problemsOf(t, config.Options{File: fileWith(t, "a: [")}), "--config")
	require.Contains(t, problemsOf(t, config.Options{File: fileWith(t, "log: {level: info, level: warn}")}), "--config")
	require.Contains(t, problemsOf(t,
		config.Options{File: fileWith(t, "node: {labels: [1]}\nserver: {roles: {a: b}}\nlog: {level: [x]}\n")}),
		"node.labels")
	load(t, config.Options{File: fileWith(t, "")})
	load(t, config.Options{File: fileWith(t, "server:\nlog:\n  level: ~\n")})
}

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{})
	require.NoError(t, c.Validate())
	c.Server.Addr = "x"
	require.Error(t, c.Validate())
}

func TestPasswordsInClearAreKnown(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pem")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		flags map[string]string
		clear bool
	}{
		{map[string]string{}, false},
		{map[string]string{"server.addr": ":8080"}, true},
		{map[string]string{"server.addr": "10.0.0.1:8080", "server.publicUrl": "http://jobs.example.com"}, true},
		{map[string]string{"server.addr": ":8080", "server.publicUrl": "https://jobs.example.com"}, false},
		{map[string]string{"server.addr": ":8080", "server.tls.certFile": file, "server.tls.keyFile": file}, false},
	} {
		loaded := load(t, config.Options{Flags: c.flags})
		require.Equal(t, c.clear, loaded.InClear(), "%v", c.flags)
	}
}

// A file behind a - may be missing, as systemd has it; what is in it counts.
func TestAFileBehindADashMayBeMissing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.Equal(t, "127.0.0.1:8080", load(t, config.Options{Environ: []string{"PS_CONFIG=-" + file}}).Server.Addr)
	_, _, err := config.Load(config.Options{Environ: []string{"PS_CONFIG=" + file}})
	require.ErrorContains(t, err, "does not exist")
	require.NoError(t, os.WriteFile(file, []byte("server: {addr: \"127.0.0.1:1\"}\n"), 0o600))
	require.Equal(t, "127.0.0.1:1", load(t, config.Options{Environ: []string{"PS_CONFIG=-" + file}}).Server.Addr)
	require.NoError(t, os.WriteFile(file, []byte("servr: {}\n"), 0o600))
	_, _, err = config.Load(config.Options{File: "-" + file})
	require.ErrorContains(t, err, "servr")
}

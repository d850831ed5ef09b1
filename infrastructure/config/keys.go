package config

import "strings"

// kind is the type of a key's value.
type kind int

const (
	kindText kind = iota
	kindNumber
	kindSwitch
	kindList
	kindLabels
)

// key is one row of the table: its name, its type and its place in Config.
type key struct {
	name   string
	kind   kind
	secret bool
	// oneOf bounds a string or the items of a list; empty is no bound. A string may be empty
	// where optional is true.
	oneOf    []string
	optional bool
	min, max int
	text     func(*Config) *string
	number   func(*Config) *int
	flag     func(*Config) *bool
	list     func(*Config) *[]string
	labels   func(*Config) *map[string]string
}

func text(name string, at func(*Config) *string, oneOf ...string) key {
	return key{name: name, kind: kindText, text: at, oneOf: oneOf}
}

func choice(name string, at func(*Config) *string, oneOf ...string) key {
	k := text(name, at, oneOf...)
	k.optional = true
	return k
}

func secret(name string, at func(*Config) *string) key {
	return key{name: name, kind: kindText, text: at, secret: true}
}

func number(name string, minimum, maximum int, at func(*Config) *int) key {
	return key{name: name, kind: kindNumber, number: at, min: minimum, max: maximum}
}

func flag(name string, at func(*Config) *bool) key {
	return key{name: name, kind: kindSwitch, flag: at}
}

func list(name string, at func(*Config) *[]string, oneOf ...string) key {
	return key{name: name, kind: kindList, list: at, oneOf: oneOf}
}

// keys returns the table of all keys, in the order in which they are shown.
func keys() []key {
	return []key{
		text("profile", func(c *Config) *string { return &c.Profile }, ProfileStandalone, ProfileCluster),
		text("dataDir", func(c *Config) *string { return &c.DataDir }),
		text("server.addr", func(c *Config) *string { return &c.Server.Addr }),
		list("server.roles", func(c *Config) *[]string { return &c.Server.Roles }, RoleAPI, RoleScheduler, RoleExecutor),
		flag("server.console", func(c *Config) *bool { return &c.Server.Console }),
		text("server.publicUrl", func(c *Config) *string { return &c.Server.PublicURL }),
		text("server.tls.certFile", func(c *Config) *string { return &c.Server.TLS.CertFile }),
		text("server.tls.keyFile", func(c *Config) *string { return &c.Server.TLS.KeyFile }),
		list("server.trustedProxies", func(c *Config) *[]string { return &c.Server.TrustedProxies }),
		number("server.shutdownGraceSec", 0, 3600, func(c *Config) *int { return &c.Server.ShutdownGraceSec }),
		number("server.requestTimeoutSec", 1, 30, func(c *Config) *int { return &c.Server.RequestTimeoutSec }),
		number("server.maxConnections", 0, 1_000_000, func(c *Config) *int { return &c.Server.MaxConnections }),
		number("server.maxConnectionsPerAddress", 0, 1_000_000, func(c *Config) *int {
			return &c.Server.MaxConnectionsPerAddress
		}),
		secret("server.metricsToken", func(c *Config) *string { return &c.Server.MetricsToken }),
		number("server.startWaitSec", 0, 86_400, func(c *Config) *int { return &c.Server.StartWaitSec }),
		text("server.timeZone", func(c *Config) *string { return &c.Server.TimeZone }),
		text("log.level", func(c *Config) *string { return &c.Log.Level }, "debug", "info", "warn", "error"),
		choice("log.format", func(c *Config) *string { return &c.Log.Format }, "text", "json"),
		text("node.id", func(c *Config) *string { return &c.Node.ID }),
		text("node.ip", func(c *Config) *string { return &c.Node.IP }),
		number("node.port", 0, 65_535, func(c *Config) *int { return &c.Node.Port }),
		{name: "node.labels", kind: kindLabels, labels: func(c *Config) *map[string]string { return &c.Node.Labels }},
		number("node.weight", 1, 1000, func(c *Config) *int { return &c.Node.Weight }),
		text("store.driver", func(c *Config) *string { return &c.Store.Driver }, DriverSQLite, DriverMySQL),
		secret("store.dsn", func(c *Config) *string { return &c.Store.DSN }),
		flag("store.autoMigrate", func(c *Config) *bool { return &c.Store.AutoMigrate }),
		number("store.maxConns", 12, 1000, func(c *Config) *int { return &c.Store.MaxConns }),
		text("store.synchronous", func(c *Config) *string { return &c.Store.Synchronous }, "FULL", "NORMAL", "EXTRA"),
		list("redis.addrs", func(c *Config) *[]string { return &c.Redis.Addrs }),
		text("redis.username", func(c *Config) *string { return &c.Redis.Username }),
		secret("redis.password", func(c *Config) *string { return &c.Redis.Password }),
		text("redis.masterName", func(c *Config) *string { return &c.Redis.MasterName }),
		number("redis.db", 0, 1_000_000, func(c *Config) *int { return &c.Redis.DB }),
		text("redis.keyPrefix", func(c *Config) *string { return &c.Redis.KeyPrefix }),
		flag("redis.required", func(c *Config) *bool { return &c.Redis.Required }),
		flag("redis.tls", func(c *Config) *bool { return &c.Redis.TLS }),
		list("kafka.brokers", func(c *Config) *[]string { return &c.Kafka.Brokers }),
		text("kafka.topicPrefix", func(c *Config) *string { return &c.Kafka.TopicPrefix }),
		flag("kafka.tls", func(c *Config) *bool { return &c.Kafka.TLS }),
		choice("kafka.sasl.mechanism", func(c *Config) *string {
			return &c.Kafka.SASL.Mechanism
		}, "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
		text("kafka.sasl.username", func(c *Config) *string { return &c.Kafka.SASL.Username }),
		secret("kafka.sasl.password", func(c *Config) *string { return &c.Kafka.SASL.Password }),
		number("engine.scanIntervalMs", 50, 60_000, func(c *Config) *int { return &c.Engine.ScanIntervalMs }),
		number("engine.horizonMs", 100, 600_000, func(c *Config) *int { return &c.Engine.HorizonMs }),
		number("engine.batchSize", 1, 5000, func(c *Config) *int { return &c.Engine.BatchSize }),
		number("engine.fireWorkers", 0, 64, func(c *Config) *int { return &c.Engine.FireWorkers }),
		number("engine.beatMs", 50, 60_000, func(c *Config) *int { return &c.Engine.BeatMs }),
		number("engine.leaseMs", 300, 600_000, func(c *Config) *int { return &c.Engine.LeaseMs }),
		number("executor.slots", 1, 100_000, func(c *Config) *int { return &c.Executor.Slots }),
		number("executor.command.slots", 0, 10_000, func(c *Config) *int { return &c.Executor.Command.Slots }),
		number("executor.command.folderMb", 1, 1<<20, func(c *Config) *int { return &c.Executor.Command.FolderMb }),
		flag("executor.command.enabled", func(c *Config) *bool { return &c.Executor.Command.Enabled }),
		text("executor.command.user", func(c *Config) *string { return &c.Executor.Command.User }),
		list("executor.command.interpreters", func(c *Config) *[]string { return &c.Executor.Command.Interpreters }),
		flag("executor.http.allowPrivate", func(c *Config) *bool { return &c.Executor.HTTP.AllowPrivate }),
		list("executor.http.allowCIDRs", func(c *Config) *[]string { return &c.Executor.HTTP.AllowCIDRs }),
		number("executor.http.maxPerHost", 1, 100_000, func(c *Config) *int { return &c.Executor.HTTP.MaxPerHost }),
		number("executor.http.breakAfter", 0, 10_000, func(c *Config) *int { return &c.Executor.HTTP.BreakAfter }),
		number("executor.http.breakSec", 1, 3600, func(c *Config) *int { return &c.Executor.HTTP.BreakSec }),
		secret("auth.initialAdminPassword", func(c *Config) *string { return &c.Auth.InitialAdminPassword }),
		secret("secrets.key", func(c *Config) *string { return &c.Secrets.Key }),
		secret("secrets.formerKeys", func(c *Config) *string { return &c.Secrets.FormerKeys }),
		number("retention.executionsDays", 1, 3650, func(c *Config) *int { return &c.Retention.ExecutionsDays }),
		number("retention.logsDays", 1, 3650, func(c *Config) *int { return &c.Retention.LogsDays }),
		number("retention.metricsDays", 1, 3650, func(c *Config) *int { return &c.Retention.MetricsDays }),
		number("retention.auditDays", 1, 3650, func(c *Config) *int { return &c.Retention.AuditDays }),
		number("retention.nodesDays", 1, 3650, func(c *Config) *int { return &c.Retention.NodesDays }),
		number("retention.alertsDays", 1, 3650, func(c *Config) *int { return &c.Retention.AlertsDays }),
		number("retention.jobVersions", 1, 100_000, func(c *Config) *int { return &c.Retention.JobVersions }),
		number("monitoring.collectIntervalSec", 5, 60, func(c *Config) *int { return &c.Monitoring.CollectIntervalSec }),
		number("monitoring.jobLabels", 0, 1000, func(c *Config) *int { return &c.Monitoring.JobLabels }),
		secret("monitoring.heartbeatUrl", func(c *Config) *string { return &c.Monitoring.HeartbeatURL }),
		secret("monitoring.watchdogUrl", func(c *Config) *string { return &c.Monitoring.WatchdogURL }),
		text("monitoring.weeklyReport.channel", func(c *Config) *string { return &c.Monitoring.WeeklyReport.Channel }),
		text("monitoring.weeklyReport.weekday", func(c *Config) *string {
			return &c.Monitoring.WeeklyReport.Weekday
		}, "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"),
		number("monitoring.weeklyReport.hour", 0, 23, func(c *Config) *int { return &c.Monitoring.WeeklyReport.Hour }),
		text("monitoring.weeklyReport.timeZone", func(c *Config) *string { return &c.Monitoring.WeeklyReport.TimeZone }),
		text("monitoring.weeklyReport.language", func(c *Config) *string {
			return &c.Monitoring.WeeklyReport.Language
		}, "en", "zh"),
		text("tracing.endpoint", func(c *Config) *string { return &c.Tracing.Endpoint }),
	}
}

// plain returns a name without case, dots, dashes and underscores, the form in which names of
// variables and keys are compared.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer(".", "", "_", "", "-", "").Replace(name))
}

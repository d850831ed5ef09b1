package config

import "strings"

// key is one row of the table: its name, its place in a Config, and what people must know of it.
type key struct {
	name string
	// at is a pointer; its type is that of the value.
	at     any
	secret bool
	// oneOf bounds a string or the items of a list; empty is no bound. A string may be empty
	// where optional is true. min and max bound a number.
	oneOf    []string
	optional bool
	min, max int
	// unit is that of a number; it is empty for counts.
	unit string
	// standalone and cluster describe defaults that depend on something.
	standalone, cluster string
	// text says what the key is for.
	text string
}

// names are those of all keys, in the order in which they are shown.
func names() (all []string) {
	for _, k := range new(Config).keys() {
		all = append(all, k.name)
	}
	return all
}

// keys returns the table of all keys with their places in the configuration, in the order in which they are shown.
func (c *Config) keys() []key {
	return []key{
		{
			name: "profile", at: &c.Profile,
			text: "`standalone` is one server with an SQLite file; `cluster` is several on one MySQL or MariaDB " +
				"with a Redis. It chooses the other defaults.",
			oneOf: []string{ProfileStandalone, ProfileCluster}, cluster: "`standalone`",
		},
		{name: "dataDir", at: &c.DataDir, text: "The folder of the SQLite file, the first admin's password and " +
			"the key of secrets. One process at a time uses it."},
		{name: "server.addr", at: &c.Server.Addr, text: "Where the API listens, as host:port; no host is every " +
			"address of the machine."},
		{name: "server.roles", at: &c.Server.Roles, text: "What this node does: serve the API, plan and fire " +
			"jobs, run them.", oneOf: []string{RoleAPI, RoleScheduler, RoleExecutor}},
		{name: "server.console", at: &c.Server.Console, text: "Whether nodes with the role `api` serve the " +
			"console at `/`."},
		{name: "server.standby", at: &c.Server.Standby, text: "Whether the node stands by: it serves API and " +
			"console and does nothing else, as on a copy of a store."},
		{name: "server.publicUrl", at: &c.Server.PublicURL, text: "How people reach the server, such as " +
			"`https://scheduler.example.com`; used in links, and as the origin that is trusted behind a proxy."},
		{name: "server.tls.certFile", at: &c.Server.TLS.CertFile, text: "The certificate of the server in PEM, " +
			"with `server.tls.keyFile`; without both it speaks plain HTTP."},
		{name: "server.tls.keyFile", at: &c.Server.TLS.KeyFile, text: "The private key of the certificate in PEM."},
		{name: "server.trustedProxies", at: &c.Server.TrustedProxies, text: "Addresses and networks of proxies " +
			"whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed."},
		{name: "server.shutdownGraceSec", at: &c.Server.ShutdownGraceSec, text: "How long a stop waits for runs " +
			"to end before it tells them to.", max: 3600, unit: "seconds"},
		{name: "server.requestTimeoutSec", at: &c.Server.RequestTimeoutSec, text: "How long an ordinary call of " +
			"the API may work, and any call waits for one answer of the store.", min: 1, max: 30, unit: "seconds"},
		{name: "server.maxConnections", at: &c.Server.MaxConnections, max: 1_000_000, text: "How many " +
			"connections the port keeps; 0 is half of the files that the process may open, and at most 10,000."},
		{name: "server.maxConnectionsPerAddress", at: &c.Server.MaxConnectionsPerAddress, text: "How many of " +
			"them come from one address (IPv6: a /64) that is no trusted proxy; 0 is a quarter.", max: 1_000_000},
		{name: "server.metricsToken", at: &c.Server.MetricsToken, secret: true, text: "The token that `GET " +
			"/metrics` asks for, as `Authorization: Bearer TOKEN`: 16 to 512 letters, digits and `-._~+/=`; " +
			"without one everybody may read the figures."},
		{name: "server.startWaitSec", at: &c.Server.StartWaitSec, max: 86_400, unit: "seconds", text: "How long " +
			"a start waits for a store, and for a required Redis, that does not answer; 0 is not at all."},
		{name: "server.timeZone", at: &c.Server.TimeZone, text: "The IANA time zone of schedules that name none, " +
			"such as `Asia/Shanghai`."},
		{name: "log.level", at: &c.Log.Level, oneOf: []string{"debug", "info", "warn", "error"}, text: "What is " +
			"logged."},
		{
			name: "log.format", at: &c.Log.Format, optional: true, oneOf: []string{"text", "json"},
			text:       "The form of the log and of the line that tells that the server is ready.",
			standalone: "text on a terminal, else json", cluster: "text on a terminal, else json",
		},
		{name: "node.id", at: &c.Node.ID, text: "The name of this node, kept over restarts; no two nodes have " +
			"the same.", standalone: "host name and port", cluster: "host name and port"},
		{
			name: "node.ip", at: &c.Node.IP,
			text:       "The address at which other nodes reach this one.",
			standalone: "the address of `server.addr`, or the first one of the machine",
			cluster:    "the address of `server.addr`, or the first one of the machine",
		},
		{name: "node.port", at: &c.Node.Port, max: 65_535, text: "The port at which other nodes reach this one, " +
			"where a mapping of ports makes it another than that of `server.addr`; 0 is that one."},
		{name: "node.labels", at: &c.Node.Labels, text: "Labels that the `routing.labels` of jobs ask for, such " +
			"as `zone: a`; as a variable `zone=a,disk=ssd`."},
		{name: "node.weight", at: &c.Node.Weight, min: 1, max: 1000, text: "The share of this node under the " +
			"routing strategy WEIGHTED."},
		{name: "store.driver", at: &c.Store.Driver, oneOf: []string{DriverSQLite, DriverMySQL}, text: "The kind " +
			"of the store; `mysql` is MariaDB's too.", standalone: "`sqlite`; `mysql` where `store.dsn` is set"},
		{name: "store.dsn", at: &c.Store.DSN, secret: true, text: "The MySQL or MariaDB, as " +
			"`user:password@tcp(host:3306)/database`. It chooses `mysql`; with `store.driver: sqlite` beside it " +
			"the start is refused."},
		{name: "store.autoMigrate", at: &c.Store.AutoMigrate, text: "Bring the schema up to date at the start; " +
			"where it is false, `migrate up` does."},
		{name: "store.maxConns", at: &c.Store.MaxConns, min: 12, max: 1000, text: "The connections of this node " +
			"to a MySQL or MariaDB server: 1 for beats, 3 for clock and locks, 3 of 8 for callers of the API, the " +
			"rest for the engine."},
		{name: "store.synchronous", at: &c.Store.Synchronous, text: "When SQLite waits for the disk. FULL loses " +
			"nothing that was confirmed; NORMAL may lose the last moments when the machine loses power; EXTRA also " +
			"syncs the folder.", oneOf: []string{"FULL", "NORMAL", "EXTRA"}},
		{name: "redis.addrs", at: &c.Redis.Addrs, text: "Redis, as host:port: one address, those of the " +
			"Sentinels (`redis.masterName`), or those of a Redis Cluster.", cluster: "required"},
		{name: "redis.username", at: &c.Redis.Username, text: "The user at Redis, where it has users."},
		{name: "redis.password", at: &c.Redis.Password, secret: true, text: "The password at Redis."},
		{name: "redis.masterName", at: &c.Redis.MasterName, text: "The name of the master that the Sentinels " +
			"watch; empty is no Sentinel."},
		{name: "redis.db", at: &c.Redis.DB, max: 1_000_000, text: "The number of the database of a single Redis."},
		{
			name: "redis.keyPrefix", at: &c.Redis.KeyPrefix,
			text:       "Tells installations apart that share a Redis.",
			standalone: "the name of the database", cluster: "the name of the database",
		},
		{name: "redis.required", at: &c.Redis.Required, text: "Refuse to start without Redis; else a node goes " +
			"on and shows it."},
		{name: "redis.tls", at: &c.Redis.TLS, text: "Speak TLS to Redis."},
		{name: "kafka.brokers", at: &c.Kafka.Brokers, text: "Brokers of Kafka, as host:port; empty is none " +
			"([events](events.md)). All schedulers name the same."},
		{name: "kafka.topicPrefix", at: &c.Kafka.TopicPrefix, text: "What the names of topics begin with."},
		{name: "kafka.tls", at: &c.Kafka.TLS, text: "Speak TLS to the brokers."},
		{name: "kafka.sasl.mechanism", at: &c.Kafka.SASL.Mechanism, text: "How the server signs in to the " +
			"brokers.", optional: true, oneOf: []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}},
		{name: "kafka.sasl.username", at: &c.Kafka.SASL.Username, text: "The user at the brokers."},
		{name: "kafka.sasl.password", at: &c.Kafka.SASL.Password, secret: true, text: "The password at the " +
			"brokers."},
		{name: "engine.scanIntervalMs", at: &c.Engine.ScanIntervalMs, text: "The pause between two looks for " +
			"jobs that are due soon.", min: 50, max: 60_000, unit: "milliseconds"},
		{name: "engine.horizonMs", at: &c.Engine.HorizonMs, text: "How far ahead a look reaches; more than " +
			"`engine.scanIntervalMs`.", min: 100, max: 600_000, unit: "milliseconds"},
		{name: "engine.batchSize", at: &c.Engine.BatchSize, min: 1, max: 5000, text: "The most fires of one " +
			"transaction."},
		{name: "engine.fireWorkers", at: &c.Engine.FireWorkers, max: 64, text: "How many transactions fire at " +
			"once; 0 lets the engine choose for the store."},
		{name: "engine.beatMs", at: &c.Engine.BeatMs, text: "The time between two signs of life of a node; at " +
			"most a sixth of `engine.leaseMs`. The same on all nodes.", min: 50, max: 60_000, unit: "milliseconds"},
		{
			name: "engine.leaseMs", at: &c.Engine.LeaseMs,
			text: "How long a sign of life is good for: a node without one that long is DOWN, and stops its work a " +
				"sixth of it sooner. The same on all nodes.",
			min: 300, max: 600_000, unit: "milliseconds",
		},
		{name: "executor.slots", at: &c.Executor.Slots, min: 1, max: 100_000, text: "How many HTTP and CUSTOM " +
			"runs this node has at a time."},
		{name: "executor.command.slots", at: &c.Executor.Command.Slots, max: 10_000, text: "How many commands " +
			"this node runs at a time, beside `executor.slots`; 0 is 16, but at most two for each processor."},
		{name: "executor.command.folderMb", at: &c.Executor.Command.FolderMb, text: "What the working folder of " +
			"one run may hold.", min: 1, max: 1 << 20, unit: "MiB"},
		{
			name: "executor.command.enabled", at: &c.Executor.Command.Enabled,
			text:       "Run commands on this node. A server that runs as root also wants `executor.command.user`.",
			standalone: "true where `server.addr` is a loopback address, else false", cluster: "false",
		},
		{
			name: "executor.command.user", at: &c.Executor.Command.User,
			text: "The user that commands run as; naming another one than the server's needs a server that runs as " +
				"root.",
			standalone: "the server's own", cluster: "the server's own",
		},
		{name: "executor.command.interpreters", at: &c.Executor.Command.Interpreters, text: "What may read " +
			"scripts; those that are not installed are left out."},
		{
			name: "executor.http.allowPrivate", at: &c.Executor.HTTP.AllowPrivate,
			text:       "Let HTTP jobs call loopback and private networks.",
			standalone: "true where `server.addr` is a loopback address, else false", cluster: "false",
		},
		{name: "executor.http.allowCIDRs", at: &c.Executor.HTTP.AllowCIDRs, text: "Networks and addresses that " +
			"HTTP jobs may call whatever `executor.http.allowPrivate` says."},
		{name: "executor.http.maxPerHost", at: &c.Executor.HTTP.MaxPerHost, text: "The most calls of one host " +
			"and port at a time, on this node.", min: 1, max: 100_000},
		{name: "executor.http.breakAfter", at: &c.Executor.HTTP.BreakAfter, max: 10_000, text: "After so many " +
			"calls in a row that could not connect, calls of that host fail at once for a while; 0 is never."},
		{
			name: "executor.http.breakSec", at: &c.Executor.HTTP.BreakSec,
			text: "How long they do.",
			min:  1, max: 3600, unit: "seconds",
		},
		{name: "executor.http.timeoutSec", at: &c.Executor.HTTP.TimeoutSec, text: "How long an attempt of an " +
			"HTTP job without a `timeoutSec` of its own may take.", min: 1, max: 604_800, unit: "seconds"},
		{name: "auth.initialAdminPassword", at: &c.Auth.InitialAdminPassword, secret: true, text: "The password " +
			"of the first user, `admin`; without one it is made up and written to `initial-admin-password` in the " +
			"data folder."},
		{
			name: "secrets.key", at: &c.Secrets.Key, secret: true,
			text: "The key that seals the secrets of jobs: 32 bytes in base64, as `openssl rand -base64 32` prints " +
				"them. The same on all nodes.",
			standalone: "`secret-key` in the data folder", cluster: "none: no secrets are kept",
		},
		{name: "secrets.formerKeys", at: &c.Secrets.FormerKeys, secret: true, text: "Keys before it, separated " +
			"by commas, which only open what they sealed."},
		{
			name: "retention.executionsDays", at: &c.Retention.ExecutionsDays,
			text: "How long runs that are over are kept, with their attempts, and finished backfills. The same on " +
				"all nodes.",
			min: 1, max: 3650, unit: "days",
		},
		{name: "retention.logsDays", at: &c.Retention.LogsDays, min: 1, max: 3650, unit: "days", text: "How long " +
			"logs of runs are kept. The same on all nodes."},
		{name: "retention.metricsDays", at: &c.Retention.MetricsDays, text: "How long hourly values of time " +
			"series (at least 3), expired sessions and answers of idempotent calls are kept. Values of a minute " +
			"stay 2 days, those of a day at least 400. The same on all nodes.", min: 1, max: 3650, unit: "days"},
		{name: "retention.auditDays", at: &c.Retention.AuditDays, text: "How long the audit log is kept. The " +
			"same on all nodes.", min: 1, max: 3650, unit: "days"},
		{name: "retention.nodesDays", at: &c.Retention.NodesDays, text: "How long a node that is DOWN stays in " +
			"the registry. The same on all nodes.", min: 1, max: 3650, unit: "days"},
		{
			name: "retention.alertsDays", at: &c.Retention.AlertsDays,
			text: "How long alerts that are over are kept, with their messages, deliveries and actions. The same " +
				"on all nodes.",
			min: 1, max: 3650, unit: "days",
		},
		{name: "retention.jobVersions", at: &c.Retention.JobVersions, min: 1, max: 100_000, text: "How many " +
			"versions of each job are kept, besides those that kept runs name. The same on all nodes."},
		{name: "monitoring.collectIntervalSec", at: &c.Monitoring.CollectIntervalSec, text: "The time between " +
			"two samples of this node for the time series that the store keeps.", min: 5, max: 60, unit: "seconds"},
		{name: "monitoring.jobLabels", at: &c.Monitoring.JobLabels, max: 1000, text: "The most jobs that `GET " +
			"/metrics` names in labels: those that failed or ran last. The others are the job `other`. Without " +
			"`server.metricsToken` it names none, as everybody can read it."},
		{name: "monitoring.heartbeatUrl", at: &c.Monitoring.HeartbeatURL, secret: true, text: "An address that " +
			"the leader calls with GET each minute after it has evaluated the rules of alerting, such as a check " +
			"of Healthchecks: it alarms when the calls stop. The same on all nodes."},
		{name: "monitoring.watchdogUrl", at: &c.Monitoring.WatchdogURL, secret: true, text: "A webhook that each " +
			"node calls when it has seen no evaluation of the rules for two minutes, also while the store is away. " +
			"The same on all nodes."},
		{name: "monitoring.weeklyReport.channel", at: &c.Monitoring.WeeklyReport.Channel, text: "The name of the " +
			"alert channel that gets the weekly report; without one there is none. The settings of the report are " +
			"the same on all nodes."},
		{
			name: "monitoring.weeklyReport.weekday", at: &c.Monitoring.WeeklyReport.Weekday,
			text:  "The day of the week on which the report comes.",
			oneOf: []string{"MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"},
		},
		{name: "monitoring.weeklyReport.hour", at: &c.Monitoring.WeeklyReport.Hour, max: 23, text: "The hour of " +
			"that day, 0–23."},
		{name: "monitoring.weeklyReport.timeZone", at: &c.Monitoring.WeeklyReport.TimeZone, text: "The IANA zone " +
			"of that hour; without one that of `server.timeZone`."},
		{name: "monitoring.weeklyReport.language", at: &c.Monitoring.WeeklyReport.Language, text: "The language " +
			"of the report.", oneOf: []string{"en", "zh"}},
		{name: "worker.allowPlain", at: &c.Worker.AllowPlain, text: "Lets [workers](workers/securing.md) of other " +
			"machines call without TLS; then their tokens, and the data of jobs, are readable on the way."},
		{name: "worker.maxConnections", at: &c.Worker.MaxConnections, max: 1_000_000, text: "How many connections of " +
			"workers the port keeps, beside those of `server.maxConnections`; 0 is a quarter of the files that the process " +
			"may open, and at most 10,000."},
		{name: "worker.maxPerAddress", at: &c.Worker.MaxPerAddress, max: 1_000_000, text: "How many of them come from one " +
			"address (IPv6: a /64) that is no trusted proxy; 0 is all."},
		{name: "tracing.endpoint", at: &c.Tracing.Endpoint, text: "Where an OpenTelemetry collector takes traces " +
			"by OTLP over HTTP, such as `http://collector:4318/v1/traces`; empty is no [tracing](tracing.md)."},
	}
}

// plain returns a name without case, dots, dashes and underscores, the form in which names of
// variables and keys are compared.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer(".", "", "_", "", "-", "").Replace(name))
}

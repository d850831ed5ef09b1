package config

// meaning is what people must know of a key beside its type and its bounds.
type meaning struct {
	// text says what the key is for.
	text string
	// unit is the unit of a number; it is empty for counts.
	unit string
	// standalone and cluster describe defaults that depend on something.
	standalone, cluster string
}

// meanings holds the meaning of every key.
var meanings = map[string]meaning{
	"profile": {text: "`standalone` is one server with an SQLite file; `cluster` is several on " +
		"one MySQL or MariaDB with a Redis. It chooses the other defaults.", cluster: "`standalone`"},
	"dataDir": {text: "The folder of the SQLite file, the first admin's password and the key of " +
		"secrets. One process at a time uses it."},
	"server.addr": {text: "Where the API listens, as host:port; no host is every address of the " +
		"machine."},
	"server.roles":   {text: "What this node does: serve the API, plan and fire jobs, run them."},
	"server.console": {text: "Whether nodes with the role `api` serve the console at `/`."},
	"server.publicUrl": {text: "How people reach the server, such as `https://scheduler.example.com`; " +
		"used in links, and as the origin that is trusted behind a proxy."},
	"server.tls.certFile": {text: "The certificate of the server in PEM, with `server.tls.keyFile`; without " +
		"both it speaks plain HTTP."},
	"server.tls.keyFile": {text: "The private key of the certificate in PEM."},
	"server.trustedProxies": {text: "Addresses and networks of proxies whose `X-Forwarded-For` and " +
		"`X-Forwarded-Proto` are believed."},
	"server.shutdownGraceSec": {
		text: "How long a stop waits for runs to end before it tells them to.",
		unit: "seconds",
	},
	"server.requestTimeoutSec": {text: "How long an ordinary call of the API may work, and any call waits for " +
		"one answer of the store.", unit: "seconds"},
	"server.maxConnections": {text: "How many connections the port keeps; 0 is half of the files that the " +
		"process may open, and at most 10,000."},
	"server.maxConnectionsPerAddress": {text: "How many of them come from one address (IPv6: a /64) that is no trusted " +
		"proxy; 0 is a quarter."},
	"server.metricsToken": {text: "The token that `GET /metrics` asks for, as `Authorization: Bearer TOKEN`: " +
		"16 to 512 letters, digits and `-._~+/=`; without one everybody may read the figures."},
	"server.startWaitSec": {text: "How long a start waits for a store, and for a required Redis, that does " +
		"not answer; 0 is not at all.", unit: "seconds"},
	"server.timeZone": {text: "The IANA time zone of schedules that name none, such as `Asia/Shanghai`."},
	"log.level":       {text: "What is logged."},
	"log.format": {
		text:       "The form of the log and of the line that tells that the server is ready.",
		standalone: "text on a terminal, else json", cluster: "text on a terminal, else json",
	},
	"node.id": {
		text:       "The name of this node, kept over restarts; no two nodes have the same.",
		standalone: "host name and port", cluster: "host name and port",
	},
	"node.ip": {
		text:       "The address at which other nodes reach this one.",
		standalone: "the address of `server.addr`, or the first one of the machine",
		cluster:    "the address of `server.addr`, or the first one of the machine",
	},
	"node.port": {text: "The port at which other nodes reach this one, where a mapping of ports " +
		"makes it another than that of `server.addr`; 0 is that one."},
	"node.labels": {text: "Labels that the `routing.labels` of jobs ask for, such as `zone: a`; as a " +
		"variable `zone=a,disk=ssd`."},
	"node.weight": {text: "The share of this node under the routing strategy WEIGHTED."},
	"store.driver": {
		text:       "The kind of the store; `mysql` is MariaDB's too.",
		standalone: "`sqlite`; `mysql` where `store.dsn` is set",
	},
	"store.dsn": {text: "The MySQL or MariaDB, as `user:password@tcp(host:3306)/database`. It " +
		"chooses `mysql`; with `store.driver: sqlite` beside it the start is refused."},
	"store.autoMigrate": {text: "Bring the schema up to date at the start; where it is false, `migrate " +
		"up` does."},
	"store.maxConns": {text: "The connections of this node to a MySQL or MariaDB server: 1 for beats, 3 " +
		"for clock and locks, 3 of 8 for callers of the API, the rest for the engine."},
	"store.synchronous": {text: "When SQLite waits for the disk. FULL loses nothing that was confirmed; " +
		"NORMAL may lose the last moments when the machine loses power; EXTRA also syncs the folder."},
	"redis.addrs": {text: "Redis, as host:port: one address, those of the Sentinels " +
		"(`redis.masterName`), or those of a Redis Cluster.", cluster: "required"},
	"redis.username":   {text: "The user at Redis, where it has users."},
	"redis.password":   {text: "The password at Redis."},
	"redis.masterName": {text: "The name of the master that the Sentinels watch; empty is no Sentinel."},
	"redis.db":         {text: "The number of the database of a single Redis."},
	"redis.keyPrefix": {
		text:       "Tells installations apart that share a Redis.",
		standalone: "the name of the database", cluster: "the name of the database",
	},
	"redis.required": {text: "Refuse to start without Redis; else a node goes on and shows it."},
	"redis.tls":      {text: "Speak TLS to Redis."},
	"kafka.brokers": {text: "Brokers of Kafka, as host:port; empty is none ([events](events.md)). " +
		"All schedulers name the same."},
	"kafka.topicPrefix":    {text: "What the names of topics begin with."},
	"kafka.tls":            {text: "Speak TLS to the brokers."},
	"kafka.sasl.mechanism": {text: "How the server signs in to the brokers."},
	"kafka.sasl.username":  {text: "The user at the brokers."},
	"kafka.sasl.password":  {text: "The password at the brokers."},
	"engine.scanIntervalMs": {
		text: "The pause between two looks for jobs that are due soon.",
		unit: "milliseconds",
	},
	"engine.horizonMs": {
		text: "How far ahead a look reaches; more than `engine.scanIntervalMs`.",
		unit: "milliseconds",
	},
	"engine.batchSize":   {text: "The most fires of one transaction."},
	"engine.fireWorkers": {text: "How many transactions fire at once; 0 lets the engine choose for the store."},
	"engine.beatMs": {text: "The time between two signs of life of a node; at most a sixth of " +
		"`engine.leaseMs`. The same on all nodes.", unit: "milliseconds"},
	"engine.leaseMs": {text: "How long a sign of life is good for: a node without one that long is DOWN, " +
		"and stops its work a sixth of it sooner. The same on all nodes.", unit: "milliseconds"},
	"executor.slots": {text: "How many HTTP and CUSTOM runs this node has at a time."},
	"executor.command.slots": {text: "How many commands this node runs at a time, beside `executor.slots`; 0 is " +
		"16, but at most two for each processor."},
	"executor.command.folderMb": {text: "What the working folder of one run may hold.", unit: "MiB"},
	"executor.command.enabled": {
		text: "Run commands on this node. A server that runs as root also wants " +
			"`executor.command.user`.", standalone: "true where `server.addr` is a loopback address, else false",
		cluster: "false",
	},
	"executor.command.user": {text: "The user that commands run as; naming another one than the server's needs " +
		"a server that runs as root.", standalone: "the server's own", cluster: "the server's own"},
	"executor.command.interpreters": {text: "What may read scripts; those that are not installed are left out."},
	"executor.http.allowPrivate": {
		text:       "Let HTTP jobs call loopback and private networks.",
		standalone: "true where `server.addr` is a loopback address, else false", cluster: "false",
	},
	"executor.http.allowCIDRs": {text: "Networks and addresses that HTTP jobs may call whatever " +
		"`executor.http.allowPrivate` says."},
	"executor.http.maxPerHost": {text: "The most calls of one host and port at a time, on this node."},
	"executor.http.breakAfter": {text: "After so many calls in a row that could not connect, calls of that host fail " +
		"at once for a while; 0 is never."},
	"executor.http.breakSec": {text: "How long they do.", unit: "seconds"},
	"auth.initialAdminPassword": {text: "The password of the first user, `admin`; without one it is made up and written " +
		"to `initial-admin-password` in the data folder."},
	"secrets.key": {
		text: "The key that seals the secrets of jobs: 32 bytes in base64, as `openssl rand " +
			"-base64 32` prints them. The same on all nodes.", standalone: "`secret-key` in the data folder",
		cluster: "none: no secrets are kept",
	},
	"secrets.formerKeys": {text: "Keys before it, separated by commas, which only open what they sealed."},
	"retention.executionsDays": {text: "How long runs that are over are kept, with their attempts, and finished " +
		"backfills. The same on all nodes.", unit: "days"},
	"retention.logsDays": {text: "How long logs of runs are kept. The same on all nodes.", unit: "days"},
	"retention.metricsDays": {
		text: "How long hourly values of time series (at least 3), expired sessions and answers " +
			"of idempotent calls are kept. Values of a minute stay 2 days, those of a day at least 400. The same on all nodes.",
		unit: "days",
	},
	"monitoring.collectIntervalSec": {text: "The time between two samples of this node for the time series that the " +
		"store keeps.", unit: "seconds"},
	"monitoring.jobLabels": {text: "The most jobs that `GET /metrics` names in labels: those that failed or ran " +
		"last. The others are the job `other`. Without `server.metricsToken` it names none, as everybody can read it."},
	"monitoring.heartbeatUrl": {text: "An address that the leader calls with GET each minute after it has evaluated the " +
		"rules of alerting, such as a check of Healthchecks: it alarms when the calls stop. The same on all nodes."},
	"monitoring.watchdogUrl": {text: "A webhook that each node calls when it has seen no evaluation of the rules for " +
		"two minutes, also while the store is away. The same on all nodes."},
	"monitoring.weeklyReport.channel": {text: "The name of the alert channel that gets the weekly report; without one " +
		"there is none. The settings of the report are the same on all nodes."},
	"monitoring.weeklyReport.weekday":  {text: "The day of the week on which the report comes."},
	"monitoring.weeklyReport.hour":     {text: "The hour of that day, 0–23."},
	"monitoring.weeklyReport.timeZone": {text: "The IANA zone of that hour; without one that of `server.timeZone`."},
	"monitoring.weeklyReport.language": {text: "The language of the report."},
	"tracing.endpoint": {text: "Where an OpenTelemetry collector takes traces by OTLP over HTTP, such as " +
		"`http://collector:4318/v1/traces`; empty is no [tracing](tracing.md)."},
	"retention.alertsDays": {text: "How long alerts that are over are kept, with their messages, deliveries and " +
		"actions. The same on all nodes.", unit: "days"},
	"retention.auditDays": {text: "How long the audit log is kept. The same on all nodes.", unit: "days"},
	"retention.nodesDays": {
		text: "How long a node that is DOWN stays in the registry. The same on all nodes.",
		unit: "days",
	},
	"retention.jobVersions": {text: "How many versions of each job are kept, besides those that kept runs name. The " +
		"same on all nodes."},
}

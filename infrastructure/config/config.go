// Package config reads the configuration of a node: defaults by profile, then a YAML file, then
// PS_* variables, then flags. One table holds every key, so that the package reads, checks and
// shows keys in the same way.
package config

//go:generate go test -count=1 -run ^TestTheReferenceOfSettingsIsCurrent$ . -update

// The profiles.
const (
	ProfileStandalone = "standalone"
	ProfileCluster    = "cluster"
)

// The roles of a node.
const (
	RoleAPI       = "api"
	RoleScheduler = "scheduler"
	RoleExecutor  = "executor"
)

// The store drivers.
const (
	DriverSQLite = "sqlite"
	DriverMySQL  = "mysql"
)

// Config is the configuration of a node. After Load it is read only.
type Config struct {
	// sources are where Load found values that are not at their default, by key.
	sources map[string]Source
	// Profile is standalone or cluster; it chooses defaults and requirements.
	Profile string
	// DataDir holds the SQLite file and the first admin's password.
	DataDir   string
	Server    Server
	Log       Log
	Node      Node
	Store     Store
	Redis     Redis
	Kafka     Kafka
	Engine    Engine
	Executor  Executor
	Auth      Auth
	Secrets   Secrets
	Retention Retention
	// Monitoring tunes what the node measures of itself.
	Monitoring Monitoring
	Tracing    Tracing
}

// Server is the REST edge and the life of the process.
type Server struct {
	// Addr is host:port; an empty host listens everywhere.
	Addr  string
	Roles []string
	// Console serves the console at /.
	Console bool
	// PublicURL is the console's address for people; only links use it.
	PublicURL string
	TLS       TLS
	// TrustedProxies are networks whose X-Forwarded-For the server trusts.
	TrustedProxies []string
	// ShutdownGraceSec is how long a stop waits for runs, 0–3,600 s.
	ShutdownGraceSec int
	// TimeZone is the IANA zone of jobs without a zone of their own.
	TimeZone string
	// MaxConnections bounds the connections of the port. 0 stands for half of the files that the
	// process may open, at most 10,000. MaxConnectionsPerAddress bounds the connections of one
	// address (IPv6: a /64); 0 is a quarter of MaxConnections.
	MaxConnections           int
	MaxConnectionsPerAddress int
	// MetricsToken is the token with which Prometheus reads /metrics, 16–512 characters. Without
	// a token everybody can read them.
	MetricsToken string
	// RequestTimeoutSec bounds an ordinary call of the API, and the wait of any call for one
	// answer of the store, 1–30 s.
	RequestTimeoutSec int
	// StartWaitSec is how long a start waits for a store, or a required Redis, that does not
	// answer, 0–86,400 s. With 0 it does not wait.
	StartWaitSec int
}

// TLS names the files of the server's certificate; set both or none.
type TLS struct {
	CertFile string
	KeyFile  string
}

// Log sets the level and the format of logs.
type Log struct {
	// Level is debug, info, warn or error.
	Level string
	// Format is text or json. Empty means text on a terminal, and otherwise json.
	Format string
}

// Node describes this process in the registry.
type Node struct {
	ID string
	// IP and Port are where the other nodes reach this node; port 0 stands for the port of
	// server.addr. They differ from that where ports are mapped.
	IP     string
	Port   int
	Labels map[string]string
	// Weight is the share under WEIGHTED routing, 1–1,000.
	Weight int
}

// Store is the database.
type Store struct {
	Driver string
	// DSN is a secret: it may hold a password.
	DSN         string
	AutoMigrate bool
	// Synchronous is SQLite's FULL, NORMAL or EXTRA.
	Synchronous string
	// MaxConns are this node's connections to a MySQL or MariaDB server, 12–1,000.
	MaxConns int
}

// Redis is one universal client: one address, Sentinel (MasterName) or Cluster.
type Redis struct {
	Addrs      []string
	Username   string
	Password   string
	MasterName string
	DB         int
	TLS        bool
	// Required makes a start fail without Redis. Otherwise the node starts and shows what is
	// missing.
	Required bool
	// KeyPrefix tells apart installations that share a Redis. Empty stands for the name of the
	// database.
	KeyPrefix string
}

// Kafka carries events; without brokers they stay in process.
type Kafka struct {
	Brokers     []string
	TopicPrefix string
	TLS         bool
	SASL        SASL
}

// SASL signs in to Kafka.
type SASL struct {
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty is none.
	Mechanism string
	Username  string
	Password  string
}

// Engine tunes the scheduler; the defaults suit all but experiments.
type Engine struct {
	// ScanIntervalMs is the pause between two scans for due jobs, 50–60,000.
	ScanIntervalMs int
	// HorizonMs is how far a scan reads ahead, 100–600,000. It must exceed the interval, or
	// fires between two scans would be late.
	HorizonMs int
	// BatchSize bounds the fires of one transaction, 1–5,000.
	BatchSize int
	// FireWorkers is the number of concurrent fire transactions; with 0 the engine chooses a
	// number for the store.
	FireWorkers int
	// BeatMs is the time between two beats of the node, 50–60,000. LeaseMs is how long a beat is
	// valid, at least six beats. Both are the same on all nodes.
	BeatMs  int
	LeaseMs int
}

// Executor bounds and permits what runs on this node.
type Executor struct {
	// Slots bounds the HTTP and CUSTOM runs at one time, 1–100,000. Commands have slots of their
	// own.
	Slots   int
	Command Command
	HTTP    HTTPCalls
}

// Command configures the commands that this node runs.
type Command struct {
	// Slots bounds the commands at one time, 1–10,000. Load replaces 0 by 16, but at most two
	// for each processor.
	Slots   int
	Enabled bool
	// FolderMb bounds the content of the working folder of one run, in MiB, 1–1,048,576.
	FolderMb int
	// User runs the processes; empty is the server's own.
	User string
	// Interpreters are the interpreters of scripts; names that are not installed are left out.
	Interpreters []string
}

// HTTPCalls restricts the targets of HTTP jobs.
type HTTPCalls struct {
	// AllowPrivate permits loopback and private networks.
	AllowPrivate bool
	// AllowCIDRs are networks that are permitted even without AllowPrivate.
	AllowCIDRs []string
	// MaxPerHost bounds the calls of one host and port at one time, 1–100,000.
	MaxPerHost int
	// BreakAfter calls in a row that could not connect to a host hold back further calls for
	// BreakSec; 0–10,000, and 0 switches that off.
	BreakAfter int
	// BreakSec is 1–3,600 s.
	BreakSec int
}

// Auth configures the sign-in.
type Auth struct {
	// InitialAdminPassword is the password of the first user; for an empty one the server makes
	// one.
	InitialAdminPassword string
}

// Secrets are the keys that seal the secrets of jobs, each 32 bytes in base64.
type Secrets struct {
	// Key seals. Without it, standalone makes a key in its data folder. A cluster keeps no
	// secrets then, because all its nodes need the same key.
	Key string
	// FormerKeys, separated by commas, only open what they sealed.
	FormerKeys string
}

// Retention is how long finished things are kept, in days, 1–3,650; for nodes, how long a DOWN
// node stays in the registry. JobVersions is how many versions of each job are kept, 1–100,000.
type Retention struct {
	ExecutionsDays int
	LogsDays       int
	MetricsDays    int
	AuditDays      int
	NodesDays      int
	// AlertsDays counts from the end of an alert.
	AlertsDays  int
	JobVersions int
}

// Monitoring tunes what a node measures of itself.
type Monitoring struct {
	// CollectIntervalSec is the time between two samples for the series that the store keeps, 5–60 s.
	CollectIntervalSec int
	// JobLabels bounds the jobs that /metrics names, 0–1,000. Without server.metricsToken it names none.
	JobLabels int
	// HeartbeatURL is called each minute after the rules of alerting were evaluated. WatchdogURL
	// is told when nobody evaluates them. Both are secrets: they may hold a token.
	HeartbeatURL string
	WatchdogURL  string
	WeeklyReport WeeklyReport
}

// Tracing sends a span for each attempt; without an endpoint none is made.
type Tracing struct {
	// Endpoint is the URL of an OpenTelemetry collector that takes OTLP over HTTP.
	Endpoint string
}

// WeeklyReport is what comes to whom once a week; without a channel nothing does.
type WeeklyReport struct {
	// Channel is the name of an alert channel.
	Channel string
	// Weekday is MONDAY to SUNDAY. Hour, 0–23, is on the clock of TimeZone; an empty zone is
	// server.timeZone.
	Weekday  string
	Hour     int
	TimeZone string
	// Language is en or zh.
	Language string
}

// Package config reads the configuration of a node: defaults by profile, then
// a YAML file, then PS_* variables, then flags. Every key stands in one table,
// so that reading, checking and showing never disagree.
package config

//go:generate go test -count=1 -run ^TestTheReferenceOfSettingsIsCurrent$ . -update

// The profiles.
const (
	ProfileStandalone = "standalone"
	ProfileCluster    = "cluster"
)

// The roles a node can take.
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

// Config is all that a node can be told. It is read only once loaded.
type Config struct {
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
}

// Server is the REST edge and the life of the process.
type Server struct {
	// Addr is host:port; an empty host listens everywhere.
	Addr  string
	Roles []string
	// PublicURL is how people reach the console; used in links only.
	PublicURL string
	TLS       TLS
	// TrustedProxies are networks whose X-Forwarded-For is believed.
	TrustedProxies []string
	// ShutdownGraceSec is how long a stop waits for runs, 0–3,600 s.
	ShutdownGraceSec int
	// TimeZone is the IANA zone of jobs that name none.
	TimeZone string
	// MaxConnections bounds the connections of the port; 0 is what the process may
	// open files for, by half, and at most 10,000. MaxConnectionsPerAddress bounds
	// those from one address (IPv6: a /64); 0 is a quarter of MaxConnections.
	MaxConnections           int
	MaxConnectionsPerAddress int
	// MetricsToken is what Prometheus sends to read /metrics, 16–512 characters;
	// empty lets everybody read them.
	MetricsToken string
	// RequestTimeoutSec is how long an ordinary call of the API may work, and
	// any call waits for one answer of the store, 1–30 s.
	RequestTimeoutSec int
	// StartWaitSec is how long a start waits for a store, and for a required
	// Redis, that does not answer, 0–86,400 s; 0 is not at all.
	StartWaitSec int
}

// TLS names the certificate of the server; both files or none.
type TLS struct {
	CertFile string
	KeyFile  string
}

// Log says what is logged and how.
type Log struct {
	// Level is debug, info, warn or error.
	Level string
	// Format is text or json; empty: text on a terminal, else json.
	Format string
}

// Node is how this process stands in the registry.
type Node struct {
	ID string
	// IP and Port are where the other nodes reach this one; port 0 is that of
	// server.addr. They differ from it behind a mapping of ports.
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
	// Required makes a start fail without Redis; else it goes on and shows it.
	Required bool
	// KeyPrefix tells installations apart that share a Redis; empty: the name
	// of the database.
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
	// ScanIntervalMs is the pause between two looks for due jobs, 50–60,000.
	ScanIntervalMs int
	// HorizonMs is how far a look reaches ahead, 100–600,000; it must exceed
	// the interval, or fires between two looks would be late.
	HorizonMs int
	// BatchSize is the most fires of one transaction, 1–5,000.
	BatchSize int
	// FireWorkers is the number of concurrent fire transactions; 0 lets the
	// engine choose for the store.
	FireWorkers int
	// BeatMs is the time between two beats of the node, 50–60,000; LeaseMs how
	// long a beat is good for, at least six beats. The same on all nodes.
	BeatMs  int
	LeaseMs int
}

// Executor bounds and permits what runs on this node.
type Executor struct {
	// Slots are the HTTP and CUSTOM runs at one time, 1–100,000. Commands have
	// their own.
	Slots   int
	Command Command
	HTTP    HTTPCalls
}

// Command is the execution of processes.
type Command struct {
	// Slots are the commands at one time, 1–10,000. Load makes 16 of 0, but at most
	// two for each processor.
	Slots   int
	Enabled bool
	// FolderMb bounds what is in the working folder of one run, in MiB,
	// 1–1,048,576.
	FolderMb int
	// User runs the processes; empty is the server's own.
	User string
	// Interpreters may run scripts; those not installed are left out.
	Interpreters []string
}

// HTTPCalls restricts the targets of HTTP jobs.
type HTTPCalls struct {
	// AllowPrivate permits loopback and private networks.
	AllowPrivate bool
	// AllowCIDRs are networks that are permitted whatever AllowPrivate says.
	AllowCIDRs []string
	// MaxPerHost is the most calls of one host and port at a time, 1–100,000.
	MaxPerHost int
	// BreakAfter calls in a row that could not connect to a host hold back
	// further ones for BreakSec; 0 switches that off, 0–10,000.
	BreakAfter int
	// BreakSec is 1–3,600 s.
	BreakSec int
}

// Auth is sign-in.
type Auth struct {
	// InitialAdminPassword is given to the first user; empty: one is made.
	InitialAdminPassword string
}

// Secrets are the keys that seal the secrets of jobs, each 32 bytes in base64.
type Secrets struct {
	// Key seals. Empty: standalone makes one in its data folder; a cluster, which
	// needs the same on every node, keeps no secrets.
	Key string
	// FormerKeys, separated by commas, only open what they sealed.
	FormerKeys string
}

// Retention is how long finished things are kept, in days, 1–3,650; for nodes,
// how long they stay in the registry when they are down. JobVersions is how many
// versions of each job are kept, 1–100,000.
type Retention struct {
	ExecutionsDays int
	LogsDays       int
	MetricsDays    int
	AuditDays      int
	NodesDays      int
	JobVersions    int
}

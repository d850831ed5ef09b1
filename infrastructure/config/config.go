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

// Config is the configuration of a node. After Load it is read only. The table of keys says of each field what it is
// for, with its bounds and its unit.
type Config struct {
	// sources are where Load found values that are not at their default, by key.
	sources    map[string]Source
	Profile    string
	DataDir    string
	Server     Server
	Log        Log
	Node       Node
	Store      Store
	Redis      Redis
	Kafka      Kafka
	Engine     Engine
	Executor   Executor
	Auth       Auth
	Secrets    Secrets
	Retention  Retention
	Monitoring Monitoring
	Tracing    Tracing
	Worker     Worker
}

// Worker bounds how programs of users may call as workers.
type Worker struct {
	AllowPlain     bool
	MaxConnections int
	MaxPerAddress  int
}

// Server is the REST edge and the life of the process.
type Server struct {
	Addr                     string
	Roles                    []string
	Console                  bool
	Standby                  bool
	PublicURL                string
	TLS                      TLS
	TrustedProxies           []string
	ShutdownGraceSec         int
	TimeZone                 string
	MaxConnections           int
	MaxConnectionsPerAddress int
	MetricsToken             string
	RequestTimeoutSec        int
	StartWaitSec             int
}

// TLS names the files of the server's certificate; set both or none.
type TLS struct {
	CertFile string
	KeyFile  string
}

// Log sets the level and the format of logs.
type Log struct {
	Level  string
	Format string
}

// Node describes this process in the registry.
type Node struct {
	ID     string
	IP     string
	Port   int
	Labels map[string]string
	Weight int
}

// Store is the database.
type Store struct {
	Driver string
	// DSN is a secret: it may hold a password.
	DSN         string
	AutoMigrate bool
	Synchronous string
	MaxConns    int
}

// Redis is one universal client: one address, Sentinel (MasterName) or Cluster.
type Redis struct {
	Addrs      []string
	Username   string
	Password   string
	MasterName string
	DB         int
	TLS        bool
	Required   bool
	KeyPrefix  string
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
	Mechanism string
	Username  string
	Password  string
}

// Engine tunes the scheduler; the defaults suit all but experiments.
type Engine struct {
	ScanIntervalMs int
	HorizonMs      int
	BatchSize      int
	FireWorkers    int
	BeatMs         int
	LeaseMs        int
}

// Executor bounds and permits what runs on this node.
type Executor struct {
	Slots   int
	Command Command
	HTTP    HTTPCalls
}

// Command configures the commands that this node runs.
type Command struct {
	// Slots is never 0 after Load.
	Slots        int
	Enabled      bool
	FolderMb     int
	User         string
	Interpreters []string
}

// HTTPCalls restricts the targets of HTTP jobs.
type HTTPCalls struct {
	AllowPrivate bool
	AllowCIDRs   []string
	MaxPerHost   int
	BreakAfter   int
	BreakSec     int
	TimeoutSec   int
}

// Auth configures the sign-in.
type Auth struct {
	InitialAdminPassword string
}

// Secrets are the keys that seal the secrets of jobs, each 32 bytes in base64.
type Secrets struct {
	Key        string
	FormerKeys string
}

// Retention is how long finished things are kept.
type Retention struct {
	ExecutionsDays int
	LogsDays       int
	MetricsDays    int
	AuditDays      int
	NodesDays      int
	AlertsDays     int
	JobVersions    int
}

// Monitoring tunes what a node measures of itself.
type Monitoring struct {
	CollectIntervalSec int
	JobLabels          int
	// HeartbeatURL and WatchdogURL are secrets: they may hold a token.
	HeartbeatURL string
	WatchdogURL  string
	WeeklyReport WeeklyReport
}

// Tracing sends a span for each attempt; without an endpoint none is made.
type Tracing struct {
	Endpoint string
}

// WeeklyReport is what comes to whom once a week; without a channel nothing does.
type WeeklyReport struct {
	Channel  string
	Weekday  string
	Hour     int
	TimeZone string
	Language string
}

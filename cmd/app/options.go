package app

import (
	"database/sql"
	"database/sql/driver"
	"log/slog"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// Options are what a program gives the engine beside the configuration.
type Options struct {
	// Clock is the machine's when nil.
	Clock clock.Clock
	// Executor runs attempts and checks definitions.
	Executor Executor
	// Processes are helper processes of the executors; may be nil.
	Processes Processes
	// Observer receives ended runs; may be nil.
	Observer completion.Observer
	// Publisher receives what the outbox holds for the brokers; nil is Kafka, where
	// brokers are configured.
	Publisher maintenance.Publisher
	// Startup receives what the start waits for; may be nil.
	Startup *StartupStatus
	Logger  *slog.Logger
	// Door says what is wrong with the connections of the port; nil where there is none.
	Door func() string
	// Port is where a server answers the other nodes; 0 is an engine alone, which
	// opens its own peerServer.
	Port int

	// Connect opens the connections to the store over those of the driver, so that
	// something can stand between; nil is sql.OpenDB.
	Connect func(driver.Connector) *sql.DB
	// StoreClock is a clock of an SQLite store that is not this machine's; nil is the
	// machine's. A database has its own.
	StoreClock StoreClock
	// OpenChannel opens the channels that messages about alerts leave by; nil opens
	// those of infrastructure/notify.
	OpenChannel notifying.OpenChannel
	// Peers calls the other nodes where the profile has no calls between nodes; nil is a
	// node that is alone: its lease never ends, and it leads.
	Peers membership.Peers
}

// StoreClock dates the rows of a store, and tells nodes its time.
type StoreClock interface {
	clock.Clock
	repository.TimeSource
}

// Executor runs attempts and checks the executor's part of definitions. Its abilities do not change from NewEngine on.
type Executor interface {
	running.Executor
	job.DefinitionChecker
	// Handlers are its own handlers, sorted; those that are built in are not
	// among them.
	Handlers() []string
	// CommandSlots is how many commands it runs at once; 0 where it runs none.
	CommandSlots() int
}

// Processes are helpers of executors.
type Processes interface {
	// Prepare ends what a former life of the node left.
	Prepare()
	// Isolation is what holds for them; ok is false when there are none.
	Isolation() (i metrics.Isolation, ok bool)
	// Off says why there are none on a node that should have them, or nothing.
	Off() string
	// Exposed: they run as the server's own user.
	Exposed() bool
	// Close ends the helpers, when nothing runs any more.
	Close() error
}

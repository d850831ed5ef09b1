package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

func storeConfig(cfg config.Config, folder *datafolder.Folder, o Options,
	m *metrics.MetricsCollector, eventsAdded func(),
) persistence.Config {
	return persistence.Config{
		Config: sqldb.Config{
			Driver: cfg.Store.Driver, DSN: cfg.Store.DSN, Path: folder.File(datafolder.DatabaseFile),
			Synchronous: cfg.Store.Synchronous,
			Clock:       o.Clock, Logger: o.Logger, Observe: m.Query, Unreadable: m.UnreadableRow, MaxConns: maxConns(cfg),
			EventsAdded: eventsAdded,
		},
		AutoMigrate: cfg.Store.AutoMigrate,
	}
}

// maxConns is for a server: an SQLite file has readers of its own number.
func maxConns(cfg config.Config) int {
	if cfg.Store.Driver == config.DriverMySQL {
		return cfg.Store.MaxConns
	}
	return 0
}

// nodeOf is the registry row of this process.
func (e *Engine) nodeOf(cfg config.Config, x Executor) (entity.Node, error) {
	handlers := x.Handlers()
	if n := len(strings.Join(handlers, "\n")); n > entity.MaxHandlers {
		return entity.Node{}, fmt.Errorf("the names of the %d handlers have %d bytes in all; at most %d are allowed: use "+
			"shorter names, or divide the handlers among several programs", len(handlers), n, entity.MaxHandlers)
	}
	_, port, _ := net.SplitHostPort(cfg.Server.Addr) // checked by the configuration
	number, _ := strconv.Atoi(port)
	if e.cluster != nil {
		number = e.cluster.port
	}
	if cfg.Node.Port != 0 {
		number = cfg.Node.Port
	}
	return entity.Node{
		ID: cfg.Node.ID, IP: cfg.Node.IP, Port: number, Status: entity.NodeUp, Roles: cfg.Server.Roles,
		Labels: cfg.Node.Labels, Version: Version(), Slots: cfg.Executor.Slots, Weight: cfg.Node.Weight,
		Life:         entity.NodeLife{Lease: e.timing().Lease, Boot: rand.Text()},
		CommandSlots: x.CommandSlots(), Handlers: handlers, HandlersHash: entity.HandlersHash(handlers),
	}, nil
}

// DataFolder is the folder that this process has in use.
func (e *Engine) DataFolder() *datafolder.Folder { return e.folder }

// ReadJob reads one definition, the body of POST /jobs, exactly as the API
// would: unknown fields and wrong values are refused, all at once.
func (e *Engine) ReadJob(ctx context.Context, body []byte) (request.JobInput, error) {
	reader := request.JobReader{TimeZone: e.cfg.Server.TimeZone, Checker: e.checker, Now: e.Clock.Now}
	return reader.Read(ctx, body)
}

package server

import (
	"net/http"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// newRouter makes the REST edge of this node.
func (s *Server) newRouter(o app.Options, c clock.Clock) (http.Handler, error) {
	return api.NewRouter(api.Deps{
		Jobs: s.Jobs, Executions: s.Executions, Auth: s.Auth, Monitor: s.Engine, Calls: s.Calls, Reports: s.Detached,
		Peers: s.peers(), Nodes: s.Nodes, Secrets: s.Secrets, Users: s.Users, Tokens: s.Tokens, Groups: s.Groups,
		Backfills: s.Backfills, Audit: s.Audit,
		Definitions: s.Definitions, Overview: s.Overview, Loads: s.Loads,
		Checker: o.Executor, Clock: c, StoreClock: s.StoreTime(), Logger: o.Logger, Metrics: s.Metrics.Handler(),
		MetricsToken:   s.cfg.Server.MetricsToken,
		Version:        app.Build(),
		ProbesOnly:     !slices.Contains(s.cfg.Server.Roles, config.RoleAPI),
		RequestTimeout: time.Duration(s.cfg.Server.RequestTimeoutSec) * time.Second,
		TimeZone:       s.cfg.Server.TimeZone,
		TrustedProxies: s.cfg.Server.TrustedProxies,
		PublicURL:      s.cfg.Server.PublicURL,
		SignedIn:       signedIn,
	})
}

package server

import (
	"net/http"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// newRouter makes the REST edge of this node.
func (s *Server) newRouter(o app.Options, c clock.Clock) (http.Handler, error) {
	site, err := s.console()
	if err != nil {
		return nil, err
	}
	edge := s.WorkerEdge
	edge.Connected = workerConnected
	return api.NewRouter(api.Deps{
		Jobs: s.Jobs, Executions: s.Executions, Auth: s.Auth, Monitor: s.Engine, Calls: s.Calls, Reports: s.Detached,
		Peers: s.peers(), Nodes: s.Nodes, Secrets: s.Secrets, Users: s.Users, Tokens: s.Tokens, Groups: s.Groups,
		Backfills: s.Backfills, Approvals: s.Approvals, Audit: s.Audit,
		Definitions: s.Definitions, Overview: s.Overview, Loads: s.Loads, Statistics: s.Statistics, Series: s.Series,
		Live:   s.Live,
		Alerts: s.Alerting.Alerts, Alerting: s.Alerting.Services, DryRuns: s.Alerting.DryRuns,
		Trials: s.Alerting.Trials, Previews: s.Alerting.Previews, Explain: s.Explain, Drafts: s.Drafts,
		WorkflowRuns: s.WorkflowRuns,
		Checker:      o.Executor, Clock: c, StoreClock: s.StoreTime(), Logger: o.Logger, Metrics: s.Metrics.Handler(),
		MetricsToken:   s.cfg.Server.MetricsToken,
		Version:        app.Build(),
		Settings:       s.settings(),
		Asides:         s.Store,
		Worker:         edge,
		ProbesOnly:     !slices.Contains(s.cfg.Server.Roles, config.RoleAPI),
		RequestTimeout: time.Duration(s.cfg.Server.RequestTimeoutSec) * time.Second,
		TimeZone:       s.cfg.Server.TimeZone,
		TrustedProxies: s.cfg.Server.TrustedProxies,
		PublicURL:      s.cfg.Server.PublicURL,
		Console:        site,
		SignedIn:       signedIn,
	})
}

// settings are those of this node for people, without secrets.
func (s *Server) settings() vo.Settings {
	v := vo.Settings{NodeID: s.cfg.Node.ID}
	for _, e := range s.cfg.Effective() {
		v.Items = append(v.Items, vo.Setting{
			Name: e.Name, Variable: e.Variable, Value: e.Current, Secret: e.Secret, Source: string(e.Source), Takes: e.Takes,
			Meaning: e.Meaning,
		})
	}
	return v
}

package server

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// peers finds the nodes that run executions. It implements execution.Peers.
type peers struct {
	e         *app.Engine
	scheme    string
	transport http.RoundTripper
}

// peerTimeout bounds a call to another node until its answer begins.
const peerTimeout = 10 * time.Second

func (s *Server) peers() *peers {
	scheme := "http"
	if s.cfg.Server.TLS.CertFile != "" {
		scheme = "https"
	}
	return &peers{e: s.Engine, scheme: scheme, transport: &http.Transport{
		DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, ResponseHeaderTimeout: peerTimeout,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
	}}
}

// HolderOf implements execution.Peers. A node of this release takes reports
// about any run; one of the former keeps its own in memory.
func (p *peers) HolderOf(ctx context.Context, executionID string) (string, bool) {
	row, err := p.e.Executions.Get(ctx, executionID)
	if err != nil || row.Status != entity.StatusRunning || row.NodeID == p.e.Member.Self().ID {
		return "", false
	}
	for _, n := range p.e.Member.Nodes() {
		if n.ID == row.NodeID && !n.Publishes() && n.Status != entity.NodeDown && n.IP != "" && n.Port > 0 {
			return p.scheme + "://" + net.JoinHostPort(n.IP, strconv.Itoa(n.Port)), true
		}
	}
	return "", false
}

// Transport implements execution.Peers.
func (p *peers) Transport() http.RoundTripper { return p.transport }

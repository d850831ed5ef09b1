package server

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/api/console"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/web"
)

// console returns the console that this node serves; nil is none. A program without a
// build of it serves a page that says how to make one.
func (s *Server) console() (*console.Site, error) {
	if !s.ServesConsole() {
		return nil, nil
	}
	files, built := web.Files()
	if !built {
		return console.NewPage(web.Placeholder), nil
	}
	return console.New(files)
}

// ServesConsole reports whether people find the console at this node's address.
func (s *Server) ServesConsole() bool {
	return s.cfg.Server.Console && slices.Contains(s.cfg.Server.Roles, config.RoleAPI)
}

// Package server makes a whole node: the engine and its REST edge.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/auth"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/connlimit"
)

// Server is a whole node: the engine and its REST edge.
type Server struct {
	*app.Engine
	Auth   *access.AuthService
	Users  *access.UserService
	Tokens *access.TokenService

	cfg      config.Config
	http     *http.Server
	boot     *bootHandler
	router   http.Handler
	listener net.Listener
	// started is the engine once it is there: connections come before.
	started atomic.Pointer[app.Engine]
	serving sync.WaitGroup
	limited *connlimit.Listener
	failed  chan error
	// password is what was made up for the first admin, with its file.
	passwordFile string
}

// maxHashers bounds the passwords hashed at once, 19 MiB each; there are never
// more than the process has cores.
const maxHashers = 4

// New takes the port, opens the store and wires the parts. Until Start
// the port says only that the node starts, and for what it waits.
func New(ctx context.Context, cfg config.Config, o app.Options) (s *Server, err error) {
	s = &Server{failed: make(chan error, 1)}
	defer func() {
		if err != nil && o.Processes != nil {
			err = errors.Join(err, o.Processes.Close()) // where no engine was made that does it
		}
	}()
	// The port first: a busy one must leave no trace in the store.
	var lc net.ListenConfig
	if s.listener, err = lc.Listen(ctx, "tcp", cfg.Server.Addr); err != nil {
		return nil, fmt.Errorf("the address %s cannot be taken: %w; stop what uses it, or choose another one with "+
			"server.addr (PS_SERVER_ADDR)", cfg.Server.Addr, err)
	}
	if o.Startup == nil {
		o.Startup = &app.StartupStatus{}
	}
	cfg.Server.Addr = s.listener.Addr().String() // the port that was asked for may be 0
	_, port, _ := net.SplitHostPort(cfg.Server.Addr)
	if o.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	s.cfg = cfg
	s.boot = newBootHandler(o.Startup)
	s.http = api.NewServer(cfg.Server.Addr, connlimit.Bodies(s.boot), o.Logger)
	c := o.Clock
	if c == nil {
		c = clock.NewSystem()
	}
	opened := s
	defer func() {
		if err != nil {
			_ = opened.http.Close()
			_ = opened.listener.Close()
			opened.serving.Wait()
		}
	}()
	if err = s.serve(cfg.Server, c); err != nil {
		return nil, err
	}
	o.Door = s.limited.Trouble
	if s.Engine, err = app.NewEngine(ctx, cfg, o); err != nil {
		return nil, err
	}
	engine := s.Engine
	s.started.Store(engine)
	if peers := engine.PeerHandler(); peers != nil {
		s.boot.answer(peers)
	}
	defer func() {
		if err != nil {
			_ = engine.Close()
		}
	}()
	hasher := auth.NewArgon2(min(runtime.GOMAXPROCS(0), maxHashers))
	storeTime := engine.StoreTime()
	s.Auth = access.NewAuthService(s.Store, s.Store, s.Store, s.Audit, hasher, storeTime)
	s.Users = access.NewUserService(s.Store, s.Store, hasher, storeTime)
	s.Tokens = access.NewTokenService(s.Store, storeTime)
	if err = s.ensureAdmin(ctx); err != nil {
		return nil, err
	}
	if s.router, err = s.newRouter(o, c); err != nil { //nolint:contextcheck // each request has a context of its own
		return nil, err
	}
	return s, nil
}

// ensureAdmin makes the first admin. A password that is made up is written to
// its file before the user exists, so that a crash in between locks nobody out.
func (s *Server) ensureAdmin(ctx context.Context) error {
	n, err := s.Store.CountUsers(ctx)
	if err != nil || n > 0 {
		return err
	}
	password := s.cfg.Auth.InitialAdminPassword
	if password == "" {
		if password, s.passwordFile, err = s.DataFolder().FirstPassword(); err != nil {
			return fmt.Errorf("write the first admin's password: %w", err)
		}
	}
	_, err = s.Auth.EnsureFirstAdmin(ctx, password)
	return err
}

// PasswordFile is where the first admin's password was written at this start;
// empty when there was an admin, or the configuration gave a password.
func (s *Server) PasswordFile() string { return s.passwordFile }

// URL is the address people open.
func (s *Server) URL() string {
	if s.cfg.Server.PublicURL != "" {
		return s.cfg.Server.PublicURL
	}
	scheme := "http"
	if s.cfg.Server.TLS.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + s.listener.Addr().String()
}

// suites are the cipher suites of TLS 1.2: all that Go has with authenticated encryption. Go chooses those of TLS 1.3.
func suites() []uint16 {
	return []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
}

// serve begins to answer on the port.
func (s *Server) serve(cfg config.Server, c clock.Clock) error {
	limited, err := s.limitConnections(cfg, s.listener, c)
	if err != nil {
		return fmt.Errorf("server.trustedProxies: %w", err)
	}
	limited.Attach(s.http)
	s.http.ConnContext = connlimit.Context
	var l net.Listener = limited
	if t := cfg.TLS; t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return fmt.Errorf("load the certificate (server.tls): %w", err)
		}
		l = tls.NewListener(l, &tls.Config{
			Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, CipherSuites: suites(),
		})
	}
	s.serving.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	})
	return nil
}

// Start begins to fire, to run and to serve the API. It returns at once, with
// an error if serving has ended already; Failed tells when it ends later.
func (s *Server) Start() error {
	select {
	case err := <-s.failed:
		return err
	default:
	}
	s.Engine.Start()
	s.boot.open(s.router)
	return nil
}

// Failed delivers the error that ended serving, if one does.
func (s *Server) Failed() <-chan error { return s.failed }

// closeBound is how long requests in progress may take at a stop.
const closeBound = 5 * time.Second

// Stop ends the node in order (engine rule 28): unready first, then no new
// fires, then the runs, then the API, then the store.
func (s *Server) Stop(ctx context.Context) error {
	stopped := s.StopLoops(ctx, func() error {
		closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
		defer cancel()
		err := s.http.Shutdown(closeCtx)
		if errors.Is(err, context.DeadlineExceeded) {
			// A caller that follows a log, or has connected and asked for nothing, is cut off.
			err = s.http.Close()
		}
		return err
	})
	s.serving.Wait()
	return errors.Join(stopped, s.flushAudit(ctx), s.Close())
}

// flushBound is how long the last entries of the audit log may take.
const flushBound = 2 * time.Second

// flushAudit stores what is counted and not yet in the audit log.
func (s *Server) flushAudit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushBound)
	defer cancel()
	if err := s.Audit.Flush(ctx, true); err != nil {
		return fmt.Errorf("write the last entries of the audit log: %w", err)
	}
	return nil
}

package crash

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"

	"golang.org/x/sys/unix"
)

// callerKey is the key of a call's connection in its context.
type callerKey struct{}

// Serve starts a server for the target; the caller closes it.
func (t *Target) Serve() *httptest.Server {
	s := t.server()
	s.Start()
	return s
}

// server listens, and serves nothing before its Start.
func (t *Target) server() *httptest.Server {
	s := httptest.NewUnstartedServer(t)
	s.Config.ConnContext = func(ctx context.Context, caller net.Conn) context.Context {
		return context.WithValue(ctx, callerKey{}, caller)
	}
	return s
}

// hungUp reports whether the caller has closed its connection already: what a target sees of
// such a call was on its way when the caller gave it up or died. It looks at the connection and
// takes nothing from it. A caller whose body is not read yet counts as there.
func hungUp(r *http.Request) bool {
	caller, ok := r.Context().Value(callerKey{}).(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := caller.SyscallConn()
	if err != nil {
		return false
	}
	var n int
	var found error
	err = raw.Control(func(fd uintptr) {
		n, _, found = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err == nil && (n == 0 && found == nil || errors.Is(found, unix.ECONNRESET))
}

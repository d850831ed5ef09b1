package app_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
)

// A client that stays connected does not make a stop in order a failed one.
func TestAStopCutsOffWhoStaysConnected(t *testing.T) {
	s, err := server.New(t.Context(), newConfig(t), app.Options{Executor: &script{}, Logger: discard()})
	require.NoError(t, err)
	require.NoError(t, s.Start())
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL(), "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte("GET /healthz HTTP/1.1\r\n")) // a request that never ends
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	require.NoError(t, s.Stop(ctx))
	require.NoError(t, c.SetReadDeadline(time.Now().Add(within)))
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

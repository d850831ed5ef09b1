//go:build linux

package e2e_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ask sends one request that keeps the connection, and reads the answer.
func ask(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	require.NoError(t, err)
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	_, _ = c.Read(make([]byte, 4096))
	return c
}

// Strangers who hold connections do not use up what commands need, nor keep
// anybody out.
func TestCommandsRunWhileStrangersHoldConnections(t *testing.T) {
	b := startBinaryWith(t, "PS_E2E_OPEN_FILES=300")
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	for range 330 {
		held = append(held, ask(t, b.addr))
	}
	for range 5 {
		require.Equal(t, "SUCCESS", b.ends(b.command("echo out", nil)).Status)
	}
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	for range 20 {
		res, err := fresh.Get(b.url + "/readyz")
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.NotContains(t, string(body), "too many open files")
	}
	for _, line := range b.logLines() {
		require.NotContains(t, line, "too many open files")
	}
}

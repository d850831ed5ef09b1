package outbound_test

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// nameserver answers every question for an address with what next gives.
func nameserver(t *testing.T, next func() netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1024)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: next().As4()},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// Row 97: a name that comes to a private address, also one that came to a
// public one when somebody looked before.
func TestANameIsJudgedByTheAddressThatIsDialled(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	var asked atomic.Int64
	resolver := nameserver(t, func() netip.Addr {
		if asked.Add(1) == 1 {
			return netip.MustParseAddr("93.184.216.34")
		}
		return netip.MustParseAddr("127.0.0.1")
	})
	looked, err := resolver.LookupNetIP(t.Context(), "ip4", "rebinding.example.")
	require.NoError(t, err)
	require.Equal(t, "93.184.216.34", looked[0].Unmap().String(), "whoever only looks is fooled")

	strict, private, _ := guards(t)
	dial := func(g *outbound.Guard) error {
		d := net.Dialer{Resolver: resolver, Control: g.Control}
		conn, err := d.DialContext(t.Context(), "tcp4", net.JoinHostPort("rebinding.example.", port))
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	var refusal *outbound.Refusal
	require.ErrorAs(t, dial(strict), &refusal)
	require.Contains(t, refusal.Error(), "127.0.0.1")
	require.NoError(t, dial(private))
}

package outbound_test

import (
	"net"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

func guards(t *testing.T) (strict, private, listed *outbound.Guard) {
	t.Helper()
	networks, err := outbound.ParseNetworks([]string{"10.1.0.0/16", "169.254.169.254", "fd00:ec2::254"})
	require.NoError(t, err)
	return outbound.New(outbound.Policy{}), outbound.New(outbound.Policy{AllowPrivate: true}),
		outbound.New(outbound.Policy{AllowCIDRs: networks})
}

func TestTheGuardJudgesAddresses(t *testing.T) {
	t.Parallel()
	strict, private, listed := guards(t)
	cases := []struct {
		network, address        string
		strict, private, listed bool
	}{
		{"tcp4", "93.184.216.34:443", true, true, true},
		{"tcp6", "[2606:4700::1111]:443", true, true, true},
		{"tcp4", "127.0.0.1:8080", false, true, false},
		{"tcp4", "127.9.9.9:80", false, true, false},
		{"tcp6", "[::1]:80", false, true, false},
		{"tcp4", "10.1.2.3:80", false, true, true},
		{"tcp4", "10.2.2.3:80", false, true, false},
		{"tcp4", "172.31.0.1:80", false, true, false},
		{"tcp4", "192.168.1.1:80", false, true, false},
		{"tcp4", "100.64.0.1:80", false, true, false},
		{"tcp6", "[fd12::1]:80", false, true, false},
		// Metadata services of clouds, in all their spellings.
		{"tcp4", "169.254.169.254:80", false, false, true},
		{"tcp6", "[::ffff:169.254.169.254]:80", false, false, true},
		{"tcp4", "169.254.1.1:80", false, false, false},
		{"tcp4", "100.100.100.200:80", false, false, false},
		{"tcp6", "[fd00:ec2::254]:80", false, false, true},
		{"tcp6", "[fe80::1%lo]:80", false, false, false},
		{"tcp6", "[::ffff:127.0.0.1]:80", false, true, false},
		{"tcp6", "[64:ff9b::7f00:1]:80", false, false, false},
		{"tcp6", "[2002:7f00:1::]:80", false, false, false},
		{"tcp4", "0.0.0.0:80", false, false, false},
		{"tcp6", "[::]:80", false, false, false},
		{"tcp4", "224.0.0.1:80", false, false, false},
		{"tcp4", "255.255.255.255:80", false, false, false},
		// Ports of other protocols.
		{"tcp4", "93.184.216.34:25", false, false, false},
		{"tcp4", "10.1.2.3:22", false, false, true},
		{"tcp4", "127.0.0.1:3306", false, false, false},
		{"tcp4", "127.0.0.1:6379", false, false, false},
		// Ports at which servers are administered, in private networks.
		{"tcp4", "127.0.0.1:2375", false, false, false},
		{"tcp4", "10.2.2.3:2379", false, false, false},
		{"tcp4", "192.168.1.1:10250", false, false, false},
		{"tcp6", "[fd12::1]:8500", false, false, false},
		{"tcp6", "[::ffff:10.2.2.3]:9200", false, false, false},
		{"tcp4", "172.17.0.1:2376", false, false, false},
		{"tcp4", "10.1.2.3:2380", false, false, true},
		{"tcp4", "93.184.216.34:9200", true, true, true},
		// Other networks, and nonsense.
		{"udp4", "93.184.216.34:443", false, false, false},
		{"unix", "/run/docker.sock", false, false, false},
		{"tcp4", "nonsense", false, false, false},
	}
	for _, c := range cases {
		t.Run(c.address, func(t *testing.T) {
			for _, g := range []struct {
				guard *outbound.Guard
				want  bool
			}{{strict, c.strict}, {private, c.private}, {listed, c.listed}} {
				err := g.guard.Control(c.network, c.address, nil)
				require.Equal(t, g.want, err == nil, "%v", err)
				if err != nil {
					var refusal *outbound.Refusal
					require.ErrorAs(t, err, &refusal)
				}
			}
		})
	}
}

func TestTheGuardJudgesURLsBeforeTheyAreResolved(t *testing.T) {
	t.Parallel()
	strict, private, _ := guards(t)
	cases := []struct {
		url             string
		strict, private bool
	}{
		{"https://example.com/x", true, true},
		{"http://127.0.0.1:3306", false, false},
		{"http://127.0.0.1:8080", false, true},
		{"http://localhost", false, true},
		{"http://LOCALHOST.", false, true},
		{"http://a.localhost", false, true},
		{"http://[::1]", false, true},
		{"http://0", false, false},
		{"http://0x7f000001", false, false},
		{"http://2130706433", false, false},
		{"http://0177.0.0.1", false, false},
		{"http://127.1", false, false},
		{"http://10.0.0.0x1", false, false},
		{"http://1.example.0xample", true, true},
		{"http://[::ffff:169.254.169.254]", false, false},
		{"http://169.254.169.254/latest/meta-data", false, false},
		{"https://example.com:22", false, false},
		{"http://example.com:25", false, false},
		{"http://example.com:8443", true, true},
		{"http://3com.com", true, true},
	}
	for _, c := range cases {
		t.Run(c.url, func(t *testing.T) {
			u, err := url.Parse(c.url)
			require.NoError(t, err)
			require.Equal(t, c.strict, strict.Check(u) == nil)
			require.Equal(t, c.private, private.Check(u) == nil)
		})
	}
}

func TestARefusalNamesTheAddressAndTheRemedy(t *testing.T) {
	t.Parallel()
	strict, _, _ := guards(t)
	err := strict.Control("tcp4", "10.0.0.1:80", nil)
	require.EqualError(t, err,
		"calls to the address 10.0.0.1 are not allowed on this server; a network that shall be called is listed in "+
			"executor.http.allowCIDRs")
	err = strict.Control("tcp4", "93.184.216.34:25", nil)
	require.ErrorContains(t, err, "calls to port 25 are not allowed")
}

func TestTheGuardHoldsInADialer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	strict, private, _ := guards(t)
	_, err = (&net.Dialer{Control: strict.Control}).DialContext(t.Context(), "tcp", listener.Addr().String())
	var refusal *outbound.Refusal
	require.ErrorAs(t, err, &refusal)
	conn, err := (&net.Dialer{Control: private.Control}).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

func TestParseNetworksReadsNetworksAndAddresses(t *testing.T) {
	t.Parallel()
	networks, err := outbound.ParseNetworks([]string{"10.1.2.3/8", "::ffff:192.0.2.1", "fd00::/8"})
	require.NoError(t, err)
	require.Equal(t, []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("fd00::/8"),
	}, networks)
	_, err = outbound.ParseNetworks([]string{"10.0.0.0/33"})
	require.ErrorContains(t, err, `"10.0.0.0/33"`)
}

// Mail servers may be called at their ports; where they stand is judged as for others.
func TestTheGuardJudgesMailServers(t *testing.T) {
	t.Parallel()
	strict, private, listed := guards(t)
	for _, c := range []struct {
		address                 string
		strict, private, listed bool
	}{
		{"93.184.216.34:25", true, true, true},
		{"93.184.216.34:465", true, true, true},
		{"93.184.216.34:587", true, true, true},
		{"93.184.216.34:22", false, false, false},
		{"10.1.2.3:25", false, true, true},
		{"127.0.0.1:6379", false, false, false},
		{"169.254.169.254:25", false, false, true},
	} {
		for guard, want := range map[*outbound.Guard]bool{strict: c.strict, private: c.private, listed: c.listed} {
			err := guard.ControlMail("tcp4", c.address, nil)
			require.Equal(t, want, err == nil, "%s: %v", c.address, err)
		}
	}
}

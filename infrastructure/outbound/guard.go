// Package outbound decides which addresses this server may call for its users. It decides when
// a connection is dialled, on the resolved address. So changing names, redirects and odd
// spellings of an address do not matter.
package outbound

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"syscall"

	"code.dny.dev/ssrf"
)

// Policy says what may be called in addition to the public internet.
type Policy struct {
	// AllowPrivate permits loopback and private networks. Addresses at which clouds give out
	// credentials stay refused, and so do ports for the administration of servers.
	AllowPrivate bool
	// AllowCIDRs are networks that are always permitted, on every port.
	AllowCIDRs []netip.Prefix
	// Acts is what calls, for refusals; server where it is empty.
	Acts string
}

// Guard holds a policy. Safe for concurrent use.
type Guard struct {
	listed   []netip.Prefix
	guardian *ssrf.Guardian
	acts     string
}

// private are the networks that AllowPrivate permits: RFC 1122 (loopback), RFC
// 1918, RFC 6598 (shared address space) and RFC 4193 (unique local).
var private = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"),
}

// metadata are addresses inside private networks at which clouds give out credentials.
// Link-local addresses are refused with their network.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd20:ce::254"),
}

// ports are ports at which no HTTP service listens, and where the text of a request could act
// as commands: of mail, shells, chat and databases. The list follows the Fetch standard and
// adds databases.
var ports = []uint16{
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
	113, 115, 117, 119,
	123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587,
	601, 636, 989, 990,
	993, 995, 1719, 1720, 1723, 2049, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668,
	6669, 6679, 6697,
	10080, 11211, 26379, 27017,
}

// control are ports of programs that run a private network and obey every caller: Docker, etcd,
// ZooKeeper, Nomad, CouchDB, Spark, Kubernetes, Vault, Consul, Elasticsearch and the kubelet.
// They are refused in private networks.
var control = []uint16{
	2181, 2375, 2376, 2377, 2379, 2380, 4001, 4243, 4646, 4647, 4648, 5984, 6066, 6443, 7077, 8200, 8201, 8300, 8301, 8302,
	8500, 8501, 8502,
	9200, 9300, 10248, 10249, 10250, 10255, 10256, 10257, 10259,
}

// Refusal is the error of a refused connection. Its text names the address, the rule and the
// remedy.
type Refusal struct{ text string }

// Error implements error.
func (r *Refusal) Error() string { return r.text }

func refuse(format string, args ...any) *Refusal { return &Refusal{fmt.Sprintf(format, args...)} }

// New returns the guard of a policy.
func New(p Policy) *Guard {
	var allowed []netip.Prefix
	if p.AllowPrivate {
		allowed = private
	}
	v4 := slices.DeleteFunc(slices.Clone(allowed), func(n netip.Prefix) bool { return !n.Addr().Is4() })
	v6 := slices.DeleteFunc(slices.Clone(allowed), func(n netip.Prefix) bool { return n.Addr().Is4() })
	return &Guard{
		listed:   slices.Clone(p.AllowCIDRs),
		acts:     cmp.Or(p.Acts, "server"),
		guardian: ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)),
	}
}

// Control refuses forbidden connections with a *Refusal. It serves net.Dialer.Control, which
// calls it for every address of a name.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	return g.dial(network, address)
}

// ControlMail is Control for connections to mail servers: ports at which they take mail from
// programs are allowed, too.
func (g *Guard) ControlMail(network, address string, _ syscall.RawConn) error {
	return g.dial(network, address, 25, 465, 587)
}

func (g *Guard) dial(network, address string, open ...uint16) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return refuse("connections to %s %s are not allowed", network, address)
	}
	if r := g.check(target, open...); r != nil {
		return r
	}
	return nil
}

func (g *Guard) check(target netip.AddrPort, open ...uint16) *Refusal {
	addr := target.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(g.listed, func(n netip.Prefix) bool { return n.Contains(addr) }) {
		return nil
	}
	const remedy = "; a network that shall be called is listed in executor.http.allowCIDRs"
	if slices.Contains(metadata, addr) || g.guardian.SafeAddr(addr) != nil {
		return refuse("calls to the address %s are not allowed on this %s%s", addr, g.acts, remedy)
	}
	if slices.Contains(ports, target.Port()) && !slices.Contains(open, target.Port()) {
		return refuse("calls to port %s are not allowed, it belongs to another protocol than HTTP%s",
			strconv.Itoa(int(target.Port())), remedy)
	}
	if slices.Contains(control, target.Port()) && slices.ContainsFunc(private, func(n netip.Prefix) bool {
		return n.Contains(addr)
	}) {
		return refuse("calls to port %s of private networks are not allowed, it belongs to the administration of servers%s",
			strconv.Itoa(int(target.Port())), remedy)
	}
	return nil
}

// ParseNetworks reads networks and single addresses from the configuration.
func ParseNetworks(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range texts {
		if network, err := netip.ParsePrefix(text); err == nil {
			out = append(out, network.Masked())
			continue
		}
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither a network such as 10.0.0.0/8 nor an address", text)
		}
		out = append(out, netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()))
	}
	return out, nil
}

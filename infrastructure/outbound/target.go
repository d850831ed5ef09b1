package outbound

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Check checks what is known of an http or https URL before its name is resolved: an address,
// localhost, and the port. The error is a *Refusal. A target that passes is checked again when it is
// dialled.
func (g *Guard) Check(u *url.URL) error {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil:
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case numeric(host):
		return refuse("write the address in its ordinary form, such as 192.0.2.1")
	default:
		addr = netip.AddrFrom4([4]byte{1, 1, 1, 1}) // any public one: only the port is judged
	}
	if r := g.check(netip.AddrPortFrom(addr, port(u))); r != nil {
		return r
	}
	return nil
}

func port(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// numeric reports whether some resolvers would read a host as an address: its last part is a
// number, decimal, octal or hexadecimal (WHATWG URL, "ends in a number"). 0x7f000001,
// 2130706433, 0177.0.0.1 and 0 all mean this machine.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

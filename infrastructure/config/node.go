package config

import (
	"net"
	"os"
	"strings"
)

// nodeIDLimit is the most characters of a node id: with its mark it fills the
// columns of node ids, and with priority and time the key of its queue.
const nodeIDLimit = 49

// nameNode fills the node's id and address where none were given: the host's
// name and the port, so that a restart comes back under the same id.
func nameNode(c *Config) {
	host, port, err := net.SplitHostPort(c.Server.Addr)
	if err != nil {
		return
	}
	if c.Node.ID == "" {
		name, err := os.Hostname()
		if err != nil || name == "" {
			name = "localhost"
		}
		c.Node.ID = nodeID(name, port)
	}
	if c.Node.IP == "" {
		c.Node.IP = nodeIP(host)
	}
}

// nodeID is the name, cut as the limit wants it, and the port.
func nodeID(host, port string) string {
	clean := cleanID(host)
	if most := nodeIDLimit - len(port) - 1; len(clean) > most {
		clean = clean[:most]
	}
	return clean + "-" + port
}

// cleanID keeps letters, digits, dots, dashes and underscores of a name.
func cleanID(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
}

// nodeIP is the listening address when it is one, else the first address of
// the machine that others can reach.
func nodeIP(host string) string {
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return ip.String()
	}
	if host == "" || net.ParseIP(host) != nil {
		addrs, err := net.InterfaceAddrs()
		if err == nil {
			for _, a := range addrs {
				if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
					return n.IP.String()
				}
			}
		}
	}
	return "127.0.0.1"
}

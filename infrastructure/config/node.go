package config

import (
	"net"
	"os"
	"strings"
)

// nodeIDLimit is the width of the node id columns.
const nodeIDLimit = 64

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

// nodeID keeps letters, digits, dots, dashes and underscores of the name.
func nodeID(host, port string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, host)
	if most := nodeIDLimit - len(port) - 1; len(clean) > most {
		clean = clean[:most]
	}
	return clean + "-" + port
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

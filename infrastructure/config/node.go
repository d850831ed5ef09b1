package config

import (
	"net"
	"os"
	"strings"
)

// nodeIDLimit bounds the characters of a node id. With its mark, an id of this length fills the
// columns of node ids. With priority and time it fills the key of its queue.
const nodeIDLimit = 49

// nameNode sets the node's id and address where the configuration has none. The id is the
// host's name and the port, so that a restarted node keeps its id.
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

// nodeID returns the name, cut to the limit, and the port.
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

// nodeIP returns the listening address when it is one. Otherwise it returns the first address
// of the machine that others can reach.
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

//go:build !unix

package sendonce

import "net"

// stale knows nothing on this system; a request on a closed connection fails.
func stale(net.Conn) bool { return false }

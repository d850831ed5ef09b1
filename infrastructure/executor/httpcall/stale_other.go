//go:build !unix

package httpcall

import "net"

// stale cannot be told here; a request that meets a closed connection fails.
func stale(net.Conn) bool { return false }

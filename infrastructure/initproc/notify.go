package initproc

import (
	"context"
	"fmt"
	"net"
	"strings"
)

// The states that a service reports to its manager (sd_notify, protocol of systemd).
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
)

// Notify reports a state to the service manager at the socket that NOTIFY_SOCKET names. Without
// a socket it does nothing.
func Notify(ctx context.Context, socket, state string) error {
	if socket == "" {
		return nil
	}
	if name, abstract := strings.CutPrefix(socket, "@"); abstract {
		socket = "\x00" + name
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unixgram", socket)
	if err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	return nil
}

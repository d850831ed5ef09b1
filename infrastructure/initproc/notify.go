package initproc

import (
	"context"
	"fmt"
	"net"
	"strings"
)

// The states that a service tells its manager (sd_notify, protocol of systemd).
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
)

// Notify tells the service manager at the socket that NOTIFY_SOCKET names of a
// state. Without one there is nobody to tell.
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

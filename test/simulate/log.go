package simulate

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The lines that nodes log of leases.
const (
	saysStopped = "this node stops its work"
	saysWorks   = "this node works again"
	saysLost    = "a node has stopped beating"
)

// maxLog bounds what is kept of the warnings of all nodes, in bytes.
const maxLog = 8 << 20

// logs keeps what nodes say of leases, and their warnings. Safe for concurrent use.
type logs struct {
	mu     sync.Mutex
	fences []history.Fence
	deaths []history.Death
	text   bytes.Buffer
}

// of is the handler of a node.
func (l *logs) of(node string) slog.Handler { return &nodeLog{l, node, nil} }

// began notes that a process works; it has no epoch yet.
func (l *logs) began(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fences = append(l.fences, history.Fence{Node: node, At: time.Now(), Works: true, Why: "it starts"})
}

// note writes a line of the test itself.
func (l *logs) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text.Len() < maxLog {
		_, _ = fmt.Fprintf(&l.text, "%s test: %s\n", time.Now().UTC().Format(moment), fmt.Sprintf(format, args...))
	}
}

// moment is how moments are shown.
const moment = "15:04:05.000"

type nodeLog struct {
	logs  *logs
	node  string
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (*nodeLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// WithAttrs implements slog.Handler.
func (n *nodeLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &nodeLog{n.logs, n.node, append(append([]slog.Attr(nil), n.attrs...), attrs...)}
}

// WithGroup implements slog.Handler.
func (n *nodeLog) WithGroup(string) slog.Handler { return n }

// Handle implements slog.Handler. The moment is that of the simulation, whatever the node's clock says.
func (n *nodeLog) Handle(_ context.Context, r slog.Record) error {
	values := map[string]slog.Value{}
	line := ""
	each := func(a slog.Attr) bool {
		values[a.Key] = a.Value
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	}
	for _, a := range n.attrs {
		each(a)
	}
	r.Attrs(each)
	number := func(key string) int64 {
		if v := values[key]; v.Kind() == slog.KindInt64 {
			return v.Int64()
		}
		return 0
	}
	l := n.logs
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Message == saysStopped || r.Message == saysWorks:
		l.fences = append(l.fences, history.Fence{
			Node: n.node, Epoch: number("epoch"), At: time.Now(), Works: r.Message == saysWorks, Why: values["reason"].String(),
		})
	case r.Message == saysLost && values["status"].String() == "DOWN":
		l.deaths = append(l.deaths, history.Death{
			Node: values["node"].String(), By: n.node, Epoch: number("epoch"), At: time.Now(),
		})
	case r.Level < slog.LevelWarn:
		return nil
	}
	if l.text.Len() < maxLog {
		_, _ = fmt.Fprintf(&l.text, "%s %s %s %s%s\n", time.Now().UTC().Format(moment), n.node, r.Level, r.Message, line)
	}
	return nil
}

package service

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Loop is a background duty that must keep ticking.
type Loop struct {
	Name string
	// Age is the time since the last good tick; Limit what is still healthy.
	Age, Limit time.Duration
}

// Loops lists the duties of this node.
type Loops interface {
	Loops() []Loop
}

// Pinger checks that the store answers.
type Pinger interface {
	Ping(ctx context.Context) error
}

// MonitorService tells how the node is.
type MonitorService struct {
	store Pinger
	loops Loops
}

// NewMonitorService wires the parts.
func NewMonitorService(store Pinger, loops Loops) *MonitorService {
	return &MonitorService{store: store, loops: loops}
}

// Ready is nil when the node serves: the store answers and no loop is stalled.
// The error says what is degraded.
func (s *MonitorService) Ready(ctx context.Context) error {
	if trouble := s.Trouble(ctx); len(trouble) > 0 {
		return fmt.Errorf("not ready: %s", strings.Join(trouble, "; "))
	}
	return nil
}

// Trouble says for people what is degraded on this node.
func (s *MonitorService) Trouble(ctx context.Context) []string {
	var trouble []string
	if err := s.store.Ping(ctx); err != nil {
		trouble = append(trouble, "the store does not answer")
	}
	for _, l := range s.loops.Loops() {
		if l.Age > l.Limit {
			trouble = append(trouble, fmt.Sprintf("%s has not ticked for %s", l.Name, l.Age.Round(time.Second)))
		}
	}
	return trouble
}

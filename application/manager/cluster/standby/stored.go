package standby

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// States reads what the store knows of itself; see repository.StoreStates.
type States interface {
	StoreState(ctx context.Context) (entity.StoreState, error)
}

// Mode keeps a gate closed while the store says STANDBY.
type Mode struct {
	states States
	gate   *Gate
	logger *slog.Logger
	// activated is called when somebody has activated the store since the first look.
	activated func()

	mu    sync.Mutex
	known bool
	last  entity.StoreState
}

// NewMode returns what watches the mode of the store. It calls activated when somebody
// activates the store while this process runs; may be nil.
func NewMode(s States, g *Gate, activated func(), l *slog.Logger) *Mode {
	return &Mode{states: s, gate: g, activated: activated, logger: l}
}

// RunOnce looks at the mode. While the store is away the last look counts.
func (m *Mode) RunOnce(ctx context.Context) error {
	state, err := m.states.StoreState(ctx)
	if err != nil {
		return fmt.Errorf("look whether the store stands by: %w", err)
	}
	m.mu.Lock()
	former, known := m.last, m.known
	m.last, m.known = state, true
	m.mu.Unlock()
	if known && former.Mode == state.Mode && former.Since.Equal(state.Since) {
		return nil
	}
	if state.Mode == entity.StoreActive {
		m.gate.Set(Stored, "")
		if known {
			m.logger.Info("somebody has activated the store", "by", state.By, "since", state.Since)
			if m.activated != nil {
				m.activated()
			}
		}
		return nil
	}
	m.logger.Warn("the store stands by: this node fires and runs nothing", "by", state.By, "reason", state.Reason,
		"since", state.Since)
	m.gate.Set(Stored, storedReason(state))
	return nil
}

// storedReason is what people see of a stored standby.
func storedReason(s entity.StoreState) string {
	text := "the store stands by since " + s.Since.UTC().Format(time.RFC3339)
	if s.By != "" {
		text += ", set by " + s.By
	}
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return text + "; `platform-scheduler store activate` ends it"
}

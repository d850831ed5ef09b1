package schedule

import (
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Compiler compiles schedules and keeps the expressions and zones that it has met. Many
// jobs share few of them, and a zone is a file to read. Its memory is bounded, and what a
// Schedule holds of it is immutable. It is safe for concurrent use; a nil Compiler works
// and remembers nothing.
type Compiler struct {
	expressions memory[expressionKey, *cronexpr.Expr]
	zones       memory[string, *time.Location]
}

type expressionKey struct {
	text    string
	dialect cronexpr.Dialect
}

const (
	// rememberedExpressions at about 200 bytes each is some 2 MB.
	rememberedExpressions = 8_192
	// rememberedZones exceeds the number of names IANA has given out.
	rememberedZones = 1_024
)

// NewCompiler makes a Compiler with an empty memory.
func NewCompiler() *Compiler {
	return &Compiler{
		expressions: memory[expressionKey, *cronexpr.Expr]{limit: rememberedExpressions},
		zones:       memory[string, *time.Location]{limit: rememberedZones},
	}
}

// expression parses, or recalls, an expression. Wrong ones are not kept.
func (c *Compiler) expression(text string, dialect cronexpr.Dialect) (*cronexpr.Expr, error) {
	if c == nil {
		return cronexpr.Parse(text, dialect)
	}
	key := expressionKey{text: text, dialect: dialect}
	if expr, ok := c.expressions.get(key); ok {
		return expr, nil
	}
	expr, err := cronexpr.Parse(text, dialect)
	if err == nil {
		c.expressions.put(key, expr)
	}
	return expr, err
}

// zone loads, or recalls, a zone by a name that has been checked.
func (c *Compiler) zone(name string) (*time.Location, error) {
	if c == nil {
		return time.LoadLocation(name)
	}
	if zone, ok := c.zones.get(name); ok {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		c.zones.put(name, zone)
	}
	return zone, err
}

// memory is a map of at most limit entries in two generations. When the young one holds
// half the limit it becomes the old one. The old one's entries are dropped unless a caller
// asks for them again.
type memory[K comparable, V any] struct {
	mu         sync.RWMutex
	limit      int
	young, old map[K]V
}

func (m *memory[K, V]) get(key K) (V, bool) {
	m.mu.RLock()
	value, ok := m.young[key]
	aged := false
	if !ok {
		value, aged = m.old[key]
	}
	m.mu.RUnlock()
	if aged {
		m.put(key, value)
	}
	return value, ok || aged
}

func (m *memory[K, V]) put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.young == nil || len(m.young) >= m.limit/2 {
		m.old, m.young = m.young, make(map[K]V)
	}
	m.young[key] = value
}

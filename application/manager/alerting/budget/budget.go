// Package budget suspends rules of type EXPRESSION that cost more than rules may. It counts steps, not time, so that it
// decides the same on every machine. It keeps the spent steps in memory, because they count for a minute only;
// suspensions are in the store.
package budget

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Deps are the parts of a Budget.
type Deps struct {
	Store repository.RuleSuspensions
	Clock clock.StoreClock
	// Monotonic is the time that passes, from any origin.
	Monotonic func() time.Duration
	Logger    *slog.Logger
}

// Budget is the budget of the rules of one leader. Safe for concurrent use.
type Budget struct {
	Deps
	mu    sync.Mutex
	spent alerting.Budget
	// until is the end of the suspension of each suspended rule, by the store's clock.
	until map[string]time.Time
	// unsaved are suspensions that the store does not have yet.
	unsaved []alert.Suspension
}

// New wires the parts.
func New(d Deps) *Budget { return &Budget{Deps: d, until: map[string]time.Time{}} }

// Begin reads which rules are suspended, and suspends those whose patterns are larger than
// rules may have. Sized are all enabled rules with patterns.
func (b *Budget) Begin(ctx context.Context, sized []alerting.Sized) error {
	rows, err := b.Store.Suspensions(ctx)
	if err != nil {
		return fmt.Errorf("read which rules are suspended: %w", err)
	}
	now := b.Clock.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.until)
	for _, s := range b.unsaved {
		b.until[s.RuleID] = s.Until
	}
	stored := map[string]alert.Suspension{}
	for _, s := range rows {
		stored[s.RuleID] = s
		if holds(s, now) {
			b.until[s.RuleID] = s.Until
		}
	}
	for _, s := range alerting.Oversized(sized) {
		// One that lasts is written again in good time, so that its alert does not end and begin.
		if was, known := stored[s.RuleID]; !known || !holds(was, now.Add(alerting.SuspendFor/2)) {
			b.suspend(s, now)
		}
		b.until[s.RuleID] = now.Add(alerting.SuspendFor)
	}
	return b.save(ctx)
}

// holds reports whether a suspension lasts. A suspension that ends too late was written before the store's clock was
// set back.
func holds(s alert.Suspension, now time.Time) bool {
	return s.Until.After(now) && !s.Until.After(now.Add(2*alerting.SuspendFor))
}

func (b *Budget) suspend(s alert.Suspension, now time.Time) {
	s.Until = now.Add(alerting.SuspendFor).Truncate(time.Millisecond)
	b.until[s.RuleID] = s.Until
	b.unsaved = append(b.unsaved, s)
}

// Suspended reports whether a rule does nothing now.
func (b *Budget) Suspended(ruleID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, known := b.until[ruleID]
	return known && until.After(b.Clock.Now())
}

// Spend counts the steps of an evaluation of a rule, and suspends rules that go beyond the budget.
func (b *Budget) Spend(r *alert.Rule, cost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.spent.Spend(b.Monotonic(), r, cost) {
		b.Logger.Warn("a rule costs too much and is suspended", "rule", s.RuleID, "for", alerting.SuspendFor, "reason", s.Why)
		b.suspend(s, b.Clock.Now())
	}
}

// Save writes the suspensions that the store does not have.
func (b *Budget) Save(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.save(ctx)
}

func (b *Budget) save(ctx context.Context) error {
	if len(b.unsaved) == 0 {
		return nil
	}
	last := map[string]alert.Suspension{}
	for _, s := range b.unsaved {
		last[s.RuleID] = s
	}
	all := make([]alert.Suspension, 0, len(last))
	for _, s := range last {
		all = append(all, s)
	}
	if err := b.Store.SuspendRules(ctx, all); err != nil {
		return fmt.Errorf("suspend %d rules: %w", len(all), err)
	}
	b.unsaved = nil
	return nil
}

// Look is Begin, and deletes suspensions that have ended: their time is over, the rule is gone or off, or its patterns
// are no longer too large. It returns the suspensions that hold.
func (b *Budget) Look(ctx context.Context, rules map[string]*alert.Rule, sized []alerting.Sized) (
	lasting []alert.Suspension, err error,
) {
	if err := b.Begin(ctx, sized); err != nil {
		return nil, err
	}
	rows, err := b.Store.Suspensions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which rules are suspended: %w", err)
	}
	oversized := map[string]bool{}
	for _, s := range alerting.Oversized(sized) {
		oversized[s.RuleID] = true
	}
	now := b.Clock.Now()
	var over []string
	for _, s := range rows {
		r := rules[s.RuleID]
		if holds(s, now) && r != nil && r.Enabled && (s.Cost > 0 || oversized[s.RuleID]) {
			lasting = append(lasting, s)
			continue
		}
		// A rule that is off keeps its spent steps, so a user cannot resume it by switching it off and on.
		if !holds(s, now) || r == nil || s.Cost == 0 {
			over = append(over, s.RuleID)
		}
	}
	if err := b.Store.EndSuspensions(ctx, over); err != nil {
		return nil, fmt.Errorf("end the suspensions of %d rules: %w", len(over), err)
	}
	return lasting, nil
}

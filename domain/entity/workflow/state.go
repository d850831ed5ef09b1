package workflow

import (
	"math/bits"
	"slices"
	"time"
)

// State is where a run stands: all that a decision needs beside the definition.
type State struct {
	Phase Phase
	Cause Cause
	// Opened is when the run was opened, in milliseconds.
	Opened time.Time
	// Steps are those of the definition, in its order.
	Steps []StepState
	// Waited: the run was paused, or stood still for a person. How long it took says nothing about the next one.
	Waited bool
}

// StepState is where one step stands.
type StepState struct {
	Fate Fate
	// Owed: the fate is decided, and its row is not stored yet.
	Owed bool
	// Generation counts from 1.
	Generation int
	// HeldUntil is set while the failed step waits for a person.
	HeldUntil time.Time
	// Items are those of a map that was started.
	Items *Items
}

// Items is where a map stands. The items before Next are started or done.
type Items struct {
	Total int
	// Next is the first item that is not started, Inserted the first whose row is not stored yet.
	Next, Inserted int
	// Cancelled: nobody starts another item.
	Cancelled bool
	// Final are the items that have ended, and Failed the ones that did not succeed.
	Final, Failed Set
}

// NewState is that of a run that is opened now.
func NewState(d *Definition, now time.Time) *State {
	s := &State{Opened: now.UTC().Truncate(time.Millisecond), Steps: make([]StepState, len(d.Steps))}
	for i := range s.Steps {
		s.Steps[i].Generation = 1
	}
	return s
}

// Keep says before the first decision that a former run decided a step, and that its row is stored. items are those of
// a map.
func (s *State) Keep(step int, fate Fate, items *Items) {
	s.Steps[step].Fate, s.Steps[step].Items = fate, items
}

// Stands reports whether the run waits for people now: it is paused, a step is held, or an approval of the definition
// is open.
func (s *State) Stands(d *Definition) bool {
	if s.Phase == PhasePaused {
		return true
	}
	for i := range s.Steps {
		if s.Steps[i].Held() || s.Steps[i].Fate == FateLive && d.Steps[i].Approval != nil {
			return true
		}
	}
	return false
}

// Held reports whether the step waits for a person.
func (s *StepState) Held() bool { return !s.HeldUntil.IsZero() }

// Decided reports whether the step is final, and steps that need it may rely on that.
func (s *StepState) Decided() bool { return s.Fate.Final() && !s.Held() }

// Clone copies the state.
func (s *State) Clone() *State {
	c := *s
	c.Steps = slices.Clone(s.Steps)
	for i := range c.Steps {
		if items := c.Steps[i].Items; items != nil {
			copied := *items
			copied.Final, copied.Failed = slices.Clone(items.Final), slices.Clone(items.Failed)
			c.Steps[i].Items = &copied
		}
	}
	return &c
}

// Fits reports whether the state is one of the definition.
func (s *State) Fits(d *Definition) bool {
	if len(s.Steps) != len(d.Steps) {
		return false
	}
	for i := range s.Steps {
		isMap := d.Steps[i].ForEach != nil
		if s.Steps[i].Items != nil && !isMap || isMap && s.Steps[i].Fate == FateLive && s.Steps[i].Items == nil {
			return false
		}
	}
	return true
}

// NewItems are those of a map that is started now.
func NewItems(total int) *Items {
	return &Items{Total: total, Final: NewSet(total), Failed: NewSet(total)}
}

// Live counts the items that are started and have not ended.
func (m *Items) Live() int { return m.Next - m.Final.CountBelow(m.Next) }

// Repeat makes the items that failed, and the ones that never began, run again.
func (m *Items) Repeat() {
	for i := range m.Total {
		if m.Failed.Has(i) {
			m.Final.Remove(i)
			m.Failed.Remove(i)
		}
	}
	m.Next, m.Inserted, m.Cancelled = 0, 0, false
}

// Set holds numbers below a bound, a bit each.
type Set []byte

// NewSet is an empty set of numbers below a bound.
func NewSet(below int) Set { return make(Set, (below+7)/8) }

// Has reports whether the number is in the set.
func (s Set) Has(i int) bool { return s[i/8]&(1<<(i%8)) != 0 }

// Add adds a number.
func (s Set) Add(i int) { s[i/8] |= 1 << (i % 8) }

// Remove takes a number out.
func (s Set) Remove(i int) { s[i/8] &^= 1 << (i % 8) }

// CountBelow counts the numbers below a bound.
func (s Set) CountBelow(bound int) (n int) {
	for _, b := range s[:bound/8] {
		n += bits.OnesCount8(b)
	}
	if rest := bound % 8; rest > 0 {
		n += bits.OnesCount8(s[bound/8] & (1<<rest - 1))
	}
	return n
}

package workflow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
)

// stateVersion begins each stored state. A program refuses one that it does not know.
const stateVersion = 1

// owedBit marks a step whose row is not stored yet, beside its fate.
const owedBit = 0x80

// waitedBit marks a run that has waited for people, beside its phase.
const waitedBit = 0x80

// ErrState says that a stored state cannot be read.
var ErrState = errors.New("the stored state of the workflow run cannot be read; a newer release may have written it")

// Encode writes the state as it is stored: a byte a step, and what few steps have beside.
func (s *State) Encode() []byte {
	b := []byte{stateVersion, byte(s.Phase), byte(s.Cause)}
	if s.Waited {
		b[1] |= waitedBit
	}
	b = binary.AppendUvarint(b, millis(s.Opened))
	b = binary.AppendUvarint(b, uint64(len(s.Steps)))
	for i := range s.Steps {
		code := byte(s.Steps[i].Fate)
		if s.Steps[i].Owed {
			code |= owedBit
		}
		b = append(b, code)
	}
	b = s.section(b, func(step *StepState) bool { return step.Generation > 1 }, func(b []byte, step *StepState) []byte {
		return binary.AppendUvarint(b, uint64(step.Generation)) //nolint:gosec // it counts from 1
	})
	b = s.section(b, (*StepState).Held, func(b []byte, step *StepState) []byte {
		return binary.AppendUvarint(b, millis(step.HeldUntil))
	})
	return s.section(b, func(step *StepState) bool { return step.Items != nil },
		func(b []byte, step *StepState) []byte { return step.Items.encode(b) })
}

// section writes what some of the steps have.
func (s *State) section(b []byte, has func(*StepState) bool, write func([]byte, *StepState) []byte) []byte {
	n := 0
	for i := range s.Steps {
		if has(&s.Steps[i]) {
			n++
		}
	}
	b = binary.AppendUvarint(b, uint64(n))
	for i := range s.Steps {
		if has(&s.Steps[i]) {
			b = write(binary.AppendUvarint(b, uint64(i)), &s.Steps[i])
		}
	}
	return b
}

func millis(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixMilli(), 0))
}

// encode writes the items that have ended as bits, from the first byte with one that has not.
func (m *Items) encode(b []byte) []byte {
	cancelled := byte(0)
	if m.Cancelled {
		cancelled = 1
	}
	b = append(b, cancelled)
	whole, last := 0, len(m.Final)
	for whole < last && m.Final[whole] == 0xff {
		whole++
	}
	for last > whole && m.Final[last-1] == 0 {
		last--
	}
	for _, n := range []int{m.Total, m.Next, m.Inserted, whole, last - whole} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = append(b, m.Final[whole:last]...)
	b = binary.AppendUvarint(b, uint64(m.Failed.CountBelow(m.Total)))
	before := 0
	for i := range m.Total {
		if m.Failed.Has(i) {
			b = binary.AppendUvarint(b, uint64(i-before))
			before = i
		}
	}
	return b
}

// Decode reads a stored state. Each state is written in one way, and no other is read.
func Decode(text []byte) (*State, error) {
	r := &reader{rest: text}
	if r.octet() != stateVersion {
		return nil, ErrState
	}
	phase := r.octet()
	s := &State{
		Phase: Phase(phase &^ waitedBit), Waited: phase&waitedBit != 0, Cause: Cause(r.octet()), Opened: r.moment(),
	}
	s.Steps = make([]StepState, r.number(MaxSteps))
	for i := range s.Steps {
		code := r.octet()
		s.Steps[i] = StepState{Fate: Fate(code &^ owedBit), Owed: code&owedBit != 0, Generation: 1}
	}
	r.section(s, func(step *StepState) { step.Generation = r.number(MaxGeneration) })
	r.section(s, func(step *StepState) { step.HeldUntil = r.moment() })
	r.section(s, func(step *StepState) { step.Items = r.items() })
	if r.wrong || len(r.rest) > 0 || !s.sound() || !bytes.Equal(s.Encode(), text) {
		return nil, ErrState
	}
	return s, nil
}

// sound reports whether the parts of a state go together.
func (s *State) sound() bool {
	if s.Phase >= phases || s.Cause >= causes || (s.Cause != CauseNone) != (s.Phase == PhaseCancelling) &&
		s.Phase != PhaseClosed {
		return false
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Fate >= fates || step.Generation < 1 || step.Owed && step.Fate == FateOpen ||
			step.Held() && step.Fate.Class() != ClassFailure {
			return false
		}
	}
	return true
}

// reader reads one state. After the first wrong byte all it reads is nothing.
type reader struct {
	rest  []byte
	wrong bool
}

func (r *reader) take(n int) []byte {
	if r.wrong || n > len(r.rest) {
		r.wrong = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) octet() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) number(most int) int {
	n, size := binary.Uvarint(r.rest)
	if r.wrong || size <= 0 || n > uint64(most) { //nolint:gosec // no bound is negative
		r.wrong = true
		return 0
	}
	r.rest = r.rest[size:]
	return int(n) //nolint:gosec // it is at most the bound
}

// lastMilli is the last millisecond of the year 9999.
const lastMilli = 253_402_300_799_999

func (r *reader) moment() time.Time {
	if n := r.number(lastMilli); n > 0 {
		return time.UnixMilli(int64(n)).UTC()
	}
	return time.Time{}
}

func (r *reader) section(s *State, read func(*StepState)) {
	for range r.number(len(s.Steps)) {
		if i := r.number(len(s.Steps)); !r.wrong && i < len(s.Steps) {
			read(&s.Steps[i])
		} else {
			r.wrong = true
		}
	}
}

func (r *reader) items() *Items {
	cancelled := r.octet() == 1
	total := r.number(MaxItems)
	m := NewItems(total)
	m.Cancelled, m.Next, m.Inserted = cancelled, r.number(total), r.number(total)
	whole := r.number(len(m.Final))
	for i := range whole {
		m.Final[i] = 0xff
	}
	copy(m.Final[whole:], r.take(r.number(len(m.Final)-whole)))
	at := 0
	for range r.number(total) {
		if at += r.number(total); r.wrong || at >= total || !m.Final.Has(at) {
			r.wrong = true
			return m
		}
		m.Failed.Add(at)
	}
	if m.Inserted > m.Next || total%8 != 0 && m.Final[len(m.Final)-1]>>(total%8) != 0 {
		r.wrong = true
	}
	return m
}

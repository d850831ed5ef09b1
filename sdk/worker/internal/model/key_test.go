package model_test

import (
	"encoding/binary"
	"hash/maphash"
	"reflect"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// key hashes a state. Two states share one when nothing that can happen tells them apart: times count from
// now, numbers of polls and epochs by their order and neighbourhood, lives and boot ids by equality, and what
// is under way in any order.
func (s *search) key(w *World) key {
	n := *w
	n.alike()
	k := &s.walk
	k.now = w.Now
	k.seqs, k.epochs, k.collect = append(k.seqs[:0], 0), append(k.epochs[:0], 0), true
	k.world(&n)
	k.seqs, k.epochs, k.collect = ranked(k.seqs), ranked(k.epochs), false
	k.world(&n)
	return key{maphash.Bytes(s.seeds[0], k.buf), maphash.Bytes(s.seeds[1], k.buf)}
}

// alike renames what is compared for equality only.
func (w *World) alike() {
	boots := []int{}
	boot := func(b int) int {
		if b == 0 {
			return 0
		}
		if i := slices.Index(boots, b); i >= 0 {
			return i + 1
		}
		boots = append(boots, b)
		return len(boots)
	}
	registered := 0
	if w.Reg.Boot != "" {
		registered = int(w.Reg.Boot[0] - '0')
	}
	w.Reg.Boot = string(rune('0' + boot(registered)))
	for i := range w.Procs {
		w.Procs[i].Boot = boot(w.Procs[i].Boot)
	}
	w.Net = slices.Clone(w.Net)
	for i := range w.Net {
		m := &w.Net[i]
		m.Boot = boot(m.Boot)
		life := w.Procs[m.Proc].Life
		if m.Kind >= mClaim {
			life = w.Gates[m.Gate].Life
		}
		m.Life = same(m.Life, life)
	}
	for i := range w.Gates {
		g := &w.Gates[i]
		g.CallerLife = same(g.CallerLife, w.Procs[g.Caller].Life)
	}
	for i := range w.Gates {
		w.Gates[i].Life, w.Procs[i].Life = 0, 0
	}
	w.Now, w.Boots = 0, 0
}

func same(a, b int) int {
	if a == b {
		return 1
	}
	return 0
}

// ranked are the different numbers in order; a gap of more than one becomes one of two.
func ranked(numbers []int64) []int64 {
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func rank(in []int64, n int64) (at int64) {
	for i := 1; i < len(in) && in[i] <= n; i++ {
		at += min(in[i]-in[i-1], 2)
	}
	return at
}

// walker writes values with all their fields, also those of the production packages that nobody else sees.
type walker struct {
	now          int
	collect      bool
	seqs, epochs []int64
	buf          []byte
	msgs         []string
}

func (k *walker) world(w *World) {
	v := reflect.ValueOf(w).Elem()
	k.msgs = k.msgs[:0]
	for i := range w.Net {
		k.buf = k.buf[:0]
		k.value(v.FieldByName("Net").Index(i), class(0))
		k.msgs = append(k.msgs, string(k.buf))
	}
	slices.Sort(k.msgs)
	k.buf = k.buf[:0]
	for i, f := range fieldsOf(v.Type()) {
		if f.name != "Net" {
			k.value(v.Field(i), f.class)
		}
	}
	for _, m := range k.msgs {
		k.buf = append(append(k.buf, m...), 0xff)
	}
}

// class says how a number is written.
type class int

const (
	plain class = iota
	aSeq
	anEpoch
	aMoment
)

type fieldInfo struct {
	name  string
	class class
}

var fieldCache = map[reflect.Type][]fieldInfo{}

func fieldsOf(t reflect.Type) []fieldInfo {
	if known, ok := fieldCache[t]; ok {
		return known
	}
	out := make([]fieldInfo, t.NumField())
	for i := range out {
		f := t.Field(i)
		out[i].name = f.Name
		switch f.Name {
		case "Seq", "seq", "Ack", "ack", "LeaseSeq", "leaseSeq", "beatSeq", "asleep", "Asked":
			out[i].class = aSeq
		case "Epoch", "epoch":
			out[i].class = anEpoch
		case "beatAt":
			out[i].class = aMoment
		}
	}
	fieldCache[t] = out
	return out
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	instantType = reflect.TypeFor[attempts.Instant]()
)

func (k *walker) value(v reflect.Value, c class) {
	switch v.Kind() {
	case reflect.Bool:
		k.number(int64(boolInt(v.Bool())), plain)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.Type() == instantType {
			c = aMoment
		}
		k.number(v.Int(), c)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		k.buf = binary.AppendUvarint(k.buf, v.Uint())
	case reflect.String:
		k.buf = append(append(k.buf, v.String()...), 0)
	case reflect.Struct:
		if v.Type() == timeType { // seconds since the year 1, and nanoseconds
			at := time.Duration(v.Field(1).Int()-epoch0.Unix()-62135596800)*time.Second +
				time.Duration(v.Field(0).Uint())
			k.number(int64(max(at, -time.Hour)+time.Hour), aMoment)
			return
		}
		for i, f := range fieldsOf(v.Type()) {
			k.value(v.Field(i), f.class)
		}
	case reflect.Slice, reflect.Array:
		k.buf = binary.AppendVarint(k.buf, int64(v.Len()))
		for i := range v.Len() {
			k.value(v.Index(i), plain)
		}
	case reflect.Map:
		if !v.IsNil() { // only a life that is never copied has one
			panic("a state holds a map")
		}
	default:
		panic("a state holds a " + v.Kind().String())
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// number writes a number. A moment is written as far as it lies before or after now; what is more than four
// ticks old is over for every rule.
func (k *walker) number(n int64, c class) {
	switch c {
	case aSeq:
		if k.collect {
			k.seqs = append(k.seqs, n)
			return
		}
		n = rank(k.seqs, n)
	case anEpoch:
		if k.collect {
			k.epochs = append(k.epochs, n)
			return
		}
		n = rank(k.epochs, n)
	case aMoment:
		n = max(n-int64(time.Hour)-int64(k.now)*int64(tick), -4*int64(tick))
	}
	k.buf = binary.AppendVarint(k.buf, n)
}

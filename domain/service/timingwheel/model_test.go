package timingwheel_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type modelEntry struct {
	key string
	due time.Time
	seq int
}

// model is the wheel's meaning: a list that is sorted when it is asked.
type model struct {
	entries []modelEntry
	seq     int
}

func (m *model) add(key string, due time.Time) {
	m.remove(key)
	m.seq++
	m.entries = append(m.entries, modelEntry{key, due, m.seq})
}

func (m *model) remove(key string) bool {
	before := len(m.entries)
	m.entries = slices.DeleteFunc(m.entries, func(e modelEntry) bool { return e.key == key })
	return len(m.entries) < before
}

func (m *model) expire(now time.Time) []string {
	slices.SortFunc(m.entries, func(a, b modelEntry) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.seq, b.seq))
	})
	var out []string
	for len(m.entries) > 0 && !m.entries[0].due.After(now) {
		out = append(out, m.entries[0].key)
		m.entries = m.entries[1:]
	}
	return out
}

func TestWheelAgreesWithASortedList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, m, now := newWheel(), &model{}, start
		key := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "k")) })
		span := rapid.Custom(func(t *rapid.T) time.Duration {
			unit := rapid.SampledFrom([]time.Duration{1, 64, 4096, 1 << 18, 1 << 30, 1 << 35}).Draw(t, "unit")
			return time.Duration(rapid.IntRange(-20, 100).Draw(t, "n")) * unit * time.Millisecond
		})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				k, due := key.Draw(t, "key"), now.Add(span.Draw(t, "in"))
				if due.Before(time.UnixMilli(0)) || due.Year() > 2200 {
					return
				}
				w.Add(k, due, k)
				m.add(k, due)
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				require.Equal(t, m.remove(k), w.Remove(k))
			},
			"move": func(t *rapid.T) {
				to := now.Add(span.Draw(t, "by"))
				if to.Before(time.UnixMilli(0)) || to.Year() > 2200 {
					return
				}
				now = to
				require.Equal(t, m.expire(now), w.Expire(now, nil))
			},
			"sleep": func(t *rapid.T) {
				next, ok := w.NextExpiry()
				require.Equal(t, len(m.entries) > 0, ok)
				if ok && next.After(now) {
					require.Empty(t, m.expire(next.Add(-1)), "the wheel sleeps past an entry")
					now = next
					require.Equal(t, m.expire(now), w.Expire(now, nil))
				}
			},
			"clear": func(t *rapid.T) {
				if rapid.IntRange(0, 20).Draw(t, "really") == 0 {
					w.Clear()
					m.entries = nil
				}
			},
			"": func(t *rapid.T) { require.Equal(t, len(m.entries), w.Len()) },
		})
	})
}

// Overdue entries come and go in great number when the store returns after an
// outage; their order must hold through removals from the middle.
func TestOverdueEntriesAgreeWithASortedList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, m := newWheel(), &model{}
		dues := rapid.SliceOfN(rapid.IntRange(0, 1000), 20, 60).Draw(t, "dues")
		for i, due := range dues {
			at := start.Add(-time.Duration(due) * time.Millisecond)
			w.Add(fmt.Sprint(i), at, fmt.Sprint(i))
			m.add(fmt.Sprint(i), at)
		}
		for _, gone := range rapid.SliceOfN(rapid.IntRange(0, len(dues)-1), 5, 15).Draw(t, "gone") {
			require.Equal(t, m.remove(fmt.Sprint(gone)), w.Remove(fmt.Sprint(gone)))
		}
		require.Equal(t, m.expire(start), w.Expire(start, nil))
	})
}

package identity_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const someJob = "0190a5e0-7c00-7000-8000-000000000001"

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestFireKeyIsUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ scheduled, want string }{
		{"2026-11-20T21:33:00Z", "2026-11-20T21:33:00.000Z"},
		{"2026-11-21T05:33:00+08:00", "2026-11-20T21:33:00.000Z"},
		{"2026-11-20T21:33:00.25Z", "2026-11-20T21:33:00.250Z"},
		{"2026-11-20T21:33:00.999999Z", "2026-11-20T21:33:00.999Z"},
	} {
		require.Equal(t, c.want, identity.FireKey(at(c.scheduled)))
		require.Equal(t, "range:"+c.want, identity.RangeKey(at(c.scheduled)))
		require.Equal(t, "backfill:"+c.want, identity.BackfillKey(at(c.scheduled)))
	}
}

func TestTheScheduledTimeIsReadBackFromAKey(t *testing.T) {
	t.Parallel()
	noon := at("2026-11-20T12:00:00.123Z")
	for _, c := range []struct {
		key                 string
		scheduled, backfill bool
	}{
		{identity.FireKey(noon), true, false},
		{identity.BackfillKey(noon), true, true},
		{identity.RangeKey(noon), false, false},
		{"MANUAL:0190a5e0-7c00-7000-8000-000000000001", false, false},
		{"backfill:soon", false, true},
		{"", false, false},
	} {
		got, ok := identity.ScheduledTimeOf(c.key)
		require.Equal(t, c.scheduled, ok, c.key)
		require.Equal(t, c.backfill, identity.IsBackfill(c.key), c.key)
		if ok {
			require.Equal(t, noon, got, c.key)
		}
	}
}

// The ids of stored rows depend on these texts: a change here is a change of
// the identity of every planned fire.
// Nodes of the former release find the executions of such a fire by the moment that the
// key ends with, and take it for a retry by hand.
func TestTheKeyOfARepetitionTellsItsMoment(t *testing.T) {
	t.Parallel()
	n := at("2026-11-20T21:33:00.001Z")
	key := identity.RepeatKey(n, someJob)
	require.Equal(t, key, identity.RepeatKey(n, someJob))
	require.NotEqual(t, key, identity.RepeatKey(n, "another"))
	require.NotEqual(t, key, identity.RepeatKey(n.Add(time.Millisecond), someJob))
	moment, ok := identity.MomentOf(key)
	require.True(t, ok)
	require.Equal(t, n, moment)
	_, planned := identity.ScheduledTimeOf(key)
	require.False(t, planned || identity.IsBackfill(key))
}

func TestExecutionIDIsFrozen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scheduled, job string
		shard          int
		want           string
	}{
		{"2026-11-20T21:33:00Z", someJob, 0, "01a1fae0-82e0-8c38-bfcc-281165379a91"},
		{"2026-11-20T21:33:00Z", someJob, 1, "01a1fae0-82e0-8e67-b4f9-ecf9921e75b4"},
		{"2026-11-20T21:33:00.001Z", someJob, 0, "01a1fae0-82e1-8e58-beb6-7a74c8e3ed66"},
		{"2026-11-20T21:33:00Z", "j", 1023, "01a1fae0-82e0-86d7-b5fb-76ab17dbc12f"},
		{"1970-01-01T00:00:00Z", "", 0, "00000000-0000-8e24-b7b0-e1d0323cb516"},
		{"1969-12-31T23:59:59Z", "", 0, "00000000-0000-85c1-a3b2-732eeb3d3f13"},
		{"9999-12-31T23:59:59.999Z", "作业", 7, "e677d21f-dbff-8b04-8933-bb55cd492f9d"},
	} {
		n := at(c.scheduled)
		require.Equal(t, c.want, identity.ExecutionID(n, c.job, identity.FireKey(n), c.shard),
			"%s %s %d", c.scheduled, c.job, c.shard)
	}
}

// reference builds the id a second time from the description of the format.
func reference(scheduled time.Time, jobID, fireKey string, shard int) string {
	h := sha256.New()
	for _, part := range []string{jobID, fireKey, fmt.Sprint(shard)} {
		_ = binary.Write(h, binary.BigEndian, uint32(len(part)))
		h.Write([]byte(part))
	}
	sum := h.Sum(nil)
	ms := scheduled.UnixMilli()
	return fmt.Sprintf("%08x-%04x-8%03x-%x%03x-%012x",
		ms>>16, ms&0xffff, binary.BigEndian.Uint16(sum)&0xfff,
		8|sum[2]>>4&3, (int(sum[2])&0xf)<<8|int(sum[3]), sum[4:10])
}

func TestExecutionIDFollowsTheFormat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := time.UnixMilli(rapid.Int64Range(0, 1<<48-2).Draw(t, "ms"))
		job, key := rapid.String().Draw(t, "job"), rapid.String().Draw(t, "key")
		shard := rapid.IntRange(0, 1023).Draw(t, "shard")
		id := identity.ExecutionID(n, job, key, shard)
		require.Equal(t, reference(n, job, key, shard), id)

		parsed, err := uuid.Parse(id)
		require.NoError(t, err)
		require.EqualValues(t, 8, parsed.Version())
		require.Equal(t, uuid.RFC4122, parsed.Variant())
		back, ok := identity.TimeOf(id)
		require.True(t, ok)
		require.True(t, back.Equal(n))
		require.GreaterOrEqual(t, id, identity.FloorID(n))
		require.Less(t, id, identity.FloorID(n.Add(time.Millisecond)))
	})
}

func TestExecutionIDTellsPartsApart(t *testing.T) {
	t.Parallel()
	n := at("2026-11-20T21:33:00Z")
	seen := map[string]string{}
	for _, p := range []struct {
		job, key string
		shard    int
	}{
		{"ab", "c", 0},
		{"a", "bc", 0},
		{"abc", "", 0},
		{"", "abc", 0},
		{"ab", "c", 1},
		{"ab", "c1", 0},
		{"ab", "c", 10},
		{"ab", identity.RangeKey(n), 0},
	} {
		id := identity.ExecutionID(n, p.job, p.key, p.shard)
		require.NotContains(t, seen, id, "%v", p)
		seen[id] = p.job
	}
}

func TestIDsSortByTime(t *testing.T) {
	t.Parallel()
	n := at("2026-11-20T21:33:00Z")
	var ids []string
	for i := range 200 {
		m := n.Add(time.Duration(i*i) * time.Millisecond)
		ids = append(ids, identity.ExecutionID(m, someJob, identity.FireKey(m), 0))
	}
	require.True(t, slices.IsSorted(ids[1:]))
}

func TestTimeOfReadsVersionSeven(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	id := uuid.Must(uuid.NewV7()).String()
	back, ok := identity.TimeOf(id)
	require.True(t, ok)
	require.WithinRange(t, back, before, time.Now())
}

func TestTimeOfRefusesOtherTexts(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", "x", "01939c1e-1d60-4abc-8abc-0123456789ab", "01939c1e-1d60-8abc-8abc-0123456789ag",
		"01939c1e11d60-8abc-8abc-0123456789ab", "01939c1e-1d60-8abc-8abc-0123456789abc",
		"g1939c1e-1d60-8abc-8abc-0123456789ab", "01939c1e-1d60-8abc-8abc-0123456789\x00b",
	} {
		_, ok := identity.TimeOf(id)
		require.False(t, ok, "%q", id)
	}
}

func TestFloorIDStaysInRange(t *testing.T) {
	t.Parallel()
	require.Equal(t, "00000000-0000-0000-0000-000000000000", identity.FloorID(time.Time{}))
	require.Equal(t, "ffffffff-ffff-0000-0000-000000000000", identity.FloorID(time.UnixMilli(1<<50)))
}

func TestNothingIsAllocatedButTheText(t *testing.T) {
	n := at("2026-11-20T21:33:00Z")
	key := identity.FireKey(n)
	for name, f := range map[string]func() string{
		"FireKey":     func() string { return identity.FireKey(n) },
		"RangeKey":    func() string { return identity.RangeKey(n) },
		"FloorID":     func() string { return identity.FloorID(n) },
		"ExecutionID": func() string { return identity.ExecutionID(n, someJob, key, 3) },
	} {
		var sink string
		got := testing.AllocsPerRun(100, func() { sink = f() })
		require.LessOrEqual(t, got, 1.0, "%s makes %s", name, sink)
	}
}

func FuzzTimeOf(f *testing.F) {
	f.Add("01939c1e-1d60-8abc-8abc-0123456789ab")
	f.Add("")
	f.Fuzz(func(t *testing.T, id string) {
		if when, ok := identity.TimeOf(id); ok {
			_, err := uuid.Parse(id)
			require.NoError(t, err)
			require.Equal(t, identity.FloorID(when)[:8], strings.ToLower(id[:8]))
		}
	})
}

func BenchmarkExecutionID(b *testing.B) {
	n := at("2026-11-20T21:33:00Z")
	key := identity.FireKey(n)
	b.ReportAllocs()
	for b.Loop() {
		_ = identity.ExecutionID(n, someJob, key, 0)
	}
}

func BenchmarkFireKey(b *testing.B) {
	n := at("2026-11-20T21:33:00Z")
	b.ReportAllocs()
	for b.Loop() {
		_ = identity.FireKey(n)
	}
}

func TestARandomIDHoldsItsMoment(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_795_215_180_123).UTC()
	a := identity.RandomID(at)
	b := identity.RandomID(at)
	require.NotEqual(t, a, b)
	parsed, err := uuid.Parse(a)
	require.NoError(t, err)
	require.EqualValues(t, 7, parsed.Version())
	require.Equal(t, uuid.RFC4122, parsed.Variant())
	back, ok := identity.TimeOf(a)
	require.True(t, ok)
	require.Equal(t, at, back)
	later := identity.RandomID(at.Add(250 * time.Nanosecond))
	require.Less(t, max(a, b), later, "ids of one millisecond sort, too")
}

// The ids of a fire's runs begin with a moment that its key tells.
func TestTheMomentOfAFireIsReadFromItsKey(t *testing.T) {
	t.Parallel()
	noon := at("2026-11-20T12:00:00.123Z")
	id := identity.RandomID(noon)
	for _, key := range []string{identity.FireKey(noon), identity.BackfillKey(noon), "MANUAL:" + id, "RETRY:" + id} {
		got, ok := identity.MomentOf(key)
		require.True(t, ok, key)
		require.Equal(t, noon, got, key)
	}
	for _, key := range []string{"", ":", "manual", "MANUAL:x", identity.RangeKey(noon)} {
		_, ok := identity.MomentOf(key)
		require.False(t, ok, key)
	}
}

func TestAnIDIsItsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes"))
		text := identity.Text(want)
		require.Equal(t, uuid.UUID(want).String(), text)
		got, ok := identity.Bytes(text)
		require.True(t, ok, text)
		require.Equal(t, want, got)
	})
	for place := range someJob {
		for character := range 256 {
			changed := someJob[:place] + string([]byte{byte(character)}) + someJob[place+1:]
			b, ok := identity.Bytes(changed)
			digit := strings.IndexByte("0123456789abcdef", byte(character)) >= 0
			require.Equal(t, byte(character) == someJob[place] || digit && someJob[place] != '-', ok, "%q", changed)
			if ok {
				require.Equal(t, changed, identity.Text(b))
			}
		}
	}
	for _, none := range []string{
		"", "job-1", strings.ToUpper(someJob), someJob + "0", someJob[1:],
		strings.ReplaceAll(someJob, "-", "0"),
	} {
		_, ok := identity.Bytes(none)
		require.False(t, ok, none)
	}
}

func BenchmarkBytes(b *testing.B) {
	for b.Loop() {
		if _, ok := identity.Bytes(someJob); !ok {
			b.Fatal("no id")
		}
	}
}

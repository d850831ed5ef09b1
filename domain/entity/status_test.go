package entity_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	document = "../../docs/state-machine.md"
	newRow   = "NEW"
)

// born lists the states in which an execution may be inserted.
func born() []entity.Status {
	return []entity.Status{
		entity.StatusWaiting, entity.StatusRunning, entity.StatusSkipped, entity.StatusFailed, entity.StatusSuccess,
	}
}

// edges are pairs of states, from and to; newRow is where rows are born.
type edges map[[2]string]bool

func edgesOfCode() edges {
	all := edges{}
	for _, to := range born() {
		all[[2]string{newRow, string(to)}] = true
	}
	for _, from := range entity.Statuses() {
		for _, to := range from.Next() {
			all[[2]string{string(from), string(to)}] = true
		}
	}
	return all
}

func readDocument(t *testing.T) string {
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	return string(text)
}

// section is the part of the document under a heading of the second level.
func section(t *testing.T, title string) string {
	_, rest, found := strings.Cut(readDocument(t), "\n## "+title+"\n")
	require.True(t, found, "the document has no section %q", title)
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

func TestTableOfTransitionsIsTheCode(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `([A-Z]+)` \\| `([A-Z]+)` \\| (.+) \\|$")
	documented := edges{}
	for _, m := range row.FindAllStringSubmatch(section(t, "The transitions"), -1) {
		edge := [2]string{m[1], m[2]}
		require.False(t, documented[edge], "%v is documented twice", edge)
		documented[edge] = true
	}
	require.Equal(t, edgesOfCode(), documented)
}

func TestDiagramIsTheCode(t *testing.T) {
	t.Parallel()
	_, rest, found := strings.Cut(readDocument(t), "```mermaid\n")
	require.True(t, found)
	diagram, _, _ := strings.Cut(rest, "```")
	arrow := regexp.MustCompile(`(?m)^\s*(\S+) --> (\S+)$`)
	drawn, ends := edges{}, map[string]bool{}
	for _, m := range arrow.FindAllStringSubmatch(diagram, -1) {
		switch {
		case m[1] == "[*]":
			drawn[[2]string{newRow, m[2]}] = true
		case m[2] == "[*]":
			ends[m[1]] = true
		default:
			drawn[[2]string{m[1], m[2]}] = true
		}
	}
	require.Equal(t, edgesOfCode(), drawn)
	for _, s := range entity.Statuses() {
		require.Equal(t, s.Final(), ends[string(s)], "%s", s)
	}
}

func TestTableOfStatesIsTheCode(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `([A-Z]+)` \\| (yes|no) \\|")
	var documented []entity.Status
	for _, m := range row.FindAllStringSubmatch(section(t, "The states"), -1) {
		s := entity.Status(m[1])
		documented = append(documented, s)
		require.Equal(t, m[2] == "yes", s.Final(), "%s", s)
	}
	require.Equal(t, entity.Statuses(), documented)
}

func TestFinalStatesHaveNoSuccessor(t *testing.T) {
	t.Parallel()
	for _, s := range entity.Statuses() {
		require.Equal(t, s.Final(), len(s.Next()) == 0, "%s", s)
		require.False(t, s.CanBecome(s), "%s", s)
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	const (
		waiting, running, success    = entity.StatusWaiting, entity.StatusRunning, entity.StatusSuccess
		failed, timeout, cancelled   = entity.StatusFailed, entity.StatusTimeout, entity.StatusCancelled
		skipped, dead, nothingToFold = entity.StatusSkipped, entity.StatusDead, entity.Status("")
	)
	for _, c := range []struct {
		shards []entity.Status
		want   entity.Status
	}{
		{nil, nothingToFold},
		{[]entity.Status{success}, success},
		{[]entity.Status{success, success}, success},
		{[]entity.Status{dead, waiting}, waiting},
		{[]entity.Status{waiting, running}, running},
		{[]entity.Status{running, dead}, running},
		{[]entity.Status{waiting}, waiting},
		{[]entity.Status{success, waiting, success}, waiting},
		{[]entity.Status{success, skipped}, skipped},
		{[]entity.Status{cancelled, skipped, success}, cancelled},
		{[]entity.Status{failed, cancelled}, failed},
		{[]entity.Status{timeout, failed, success}, timeout},
		{[]entity.Status{timeout, dead, failed}, dead},
	} {
		require.Equal(t, c.want, entity.Fold(c.shards), "%v", c.shards)
	}
}

func TestFoldDoesNotDependOnTheOrderOfShards(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.SliceOfN(rapid.SampledFrom(entity.Statuses()), 1, 8).Draw(t, "shards")
		folded := entity.Fold(shards)
		require.Equal(t, folded, entity.Fold(rapid.Permutation(shards).Draw(t, "shuffled")))
		require.Contains(t, shards, folded)
		require.Equal(t, slices.Contains(shards, entity.StatusRunning), folded == entity.StatusRunning)
		live := slices.ContainsFunc(shards, func(s entity.Status) bool { return !s.Final() })
		require.Equal(t, live, !folded.Final())
	})
}

// lives is the model: what may happen to a run, told as a text of its own.
var lives = map[entity.Status]string{
	entity.StatusWaiting: "RUNNING CANCELLED SKIPPED FAILED",
	entity.StatusRunning: "WAITING SUCCESS FAILED TIMEOUT CANCELLED DEAD",
}

// FuzzStateMachine tries every byte as an attempt to bring a run into some
// state, allowed or not.
func FuzzStateMachine(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 1})
	f.Add([]byte{0, 1, 0, 1, 0, 1, 7, 1})
	f.Add([]byte{6, 1, 0})
	f.Add([]byte{1, 4, 0, 5, 200})
	f.Fuzz(func(t *testing.T, tries []byte) {
		states := append(entity.Statuses(), "", "UNKNOWN")
		first := born()
		if len(tries) == 0 {
			return
		}
		state := first[int(tries[0])%len(first)]
		for _, b := range tries[1:] {
			to := states[int(b)%len(states)]
			allowed := to != "" && strings.Contains(" "+lives[state]+" ", " "+string(to)+" ")
			require.Equal(t, allowed, state.CanBecome(to), "%s → %s", state, to)
			if state.Final() {
				require.False(t, allowed, "%s is final", state)
			}
			if allowed {
				state = to
			}
		}
	})
}

package difference

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func shown(changes map[string][2]any) string {
	var out bytes.Buffer
	Printer{Out: &out}.Changes(changes)
	return out.String()
}

func TestScriptsAreComparedLineByLine(t *testing.T) {
	before := "set -eu\nday=$1\nfetch $day\nunpack\nload\nclean\n"
	after := "set -eu\nday=$1\nfetch $day\nunpack\ncheck\nload\nclean\nreport\n"
	require.Equal(t, `    jobData.env.REGION: null → "eu"
    jobData.interpreter: "sh" → "bash"
    jobData.script:
      …
        fetch $day
        unpack
      + check
        load
        clean
      + report
    priority: 5 → 9
`, shown(map[string][2]any{
		"priority": {5, 9},
		"jobData": {
			map[string]any{"script": before, "interpreter": "sh", "env": map[string]any{"A": "1"}},
			map[string]any{"script": after, "interpreter": "bash", "env": map[string]any{"A": "1", "REGION": "eu"}},
		},
	}))
}

func TestWhatIsNotOfLinesStandsOnOne(t *testing.T) {
	require.Equal(t, "    labels: {\"team\":\"a\"} → {\"team\":\"b\"}\n", shown(map[string][2]any{
		"labels": {map[string]any{"team": "a"}, map[string]any{"team": "b"}},
	}), "names of labels are the user's, and stand together")
	require.Equal(t, "    name: \"a\" → \"b b\"\n", shown(map[string][2]any{"name": {"a", "b\u202eb"}}),
		"nothing turns the line around")
	require.Equal(t, "    description:\n      - one (no line end)\n      + one\n      + two (no line end)\n",
		shown(map[string][2]any{"description": {"one", "one\ntwo"}}))
}

func TestColoursMarkTheLines(t *testing.T) {
	var out bytes.Buffer
	Printer{Out: &out, Colour: true}.Changes(map[string][2]any{"jobData": {
		map[string]any{"script": "a\n"},
		map[string]any{"script": "b\n"},
	}})
	require.Contains(t, out.String(), Red+"- a"+plain)
	require.Contains(t, out.String(), Green+"+ b"+plain)
}

// Whatever the texts: without the lines that came, a comparison is the old one,
// and without those that went the new one.
func TestAComparisonHoldsBothTexts(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(word, 0, 30).Draw(t, "a"), rapid.SliceOfN(word, 0, 30).Draw(t, "b")
		var old, now []string
		for _, l := range compare(a, b) {
			if l.mark != added {
				old = append(old, l.text)
			}
			if l.mark != removed {
				now = append(now, l.text)
			}
		}
		require.Equal(t, strings.Join(a, "\n"), strings.Join(old, "\n"))
		require.Equal(t, strings.Join(b, "\n"), strings.Join(now, "\n"))
	})
}

func TestHugeTextsAreNotCompared(t *testing.T) {
	a, b := strings.Repeat("x\ny\n", 3000), strings.Repeat("z\n", 3000)
	all := lines(a, b)
	require.Len(t, all, 9000)
	require.Equal(t, removed, all[0].mark)
	require.Equal(t, added, all[8999].mark)
}

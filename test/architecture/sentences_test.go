package architecture_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/architecture"
)

func TestSentencesNameTheirSubjects(t *testing.T) {
	found, err := architecture.CheckSentences(os.DirFS("../.."))
	require.NoError(t, err)
	for _, v := range found {
		t.Error(v)
	}
}

func TestTheCounterOfSentences(t *testing.T) {
	const good = "A refused call changes nothing. What does it change? Nothing at all.\n"
	for name, c := range map[string]struct {
		path, source string
		want         string // the sentence that is found; nothing: none
	}{
		"a comment of Go": {
			"a/a.go", "// Package a says.\n// Who ends a run tells\n// the observers.\npackage a\n",
			"Who ends a run tells the observers.",
		},
		"an annotation": {
			"a/a.go", "// Package a is a.\n//\n//\t@Description Those of it are left out.\npackage a\n",
			"Those of it are left out.",
		},
		"generated Go":       {"a/a.go", generated + "// Package a is a. What is left is all.\npackage a\n", ""},
		"TypeScript":         {"a/a.ts", "/** What a person does with it. */\nexport const a = 1\n", "What a person does with it."},
		"a component":        {"a/A.vue", "<script>\n// Whoever reads it waits.\n</script>\n", "Whoever reads it waits."},
		"no comment":         {"a/a.ts", "const a = 'What a person does with it.'\n", ""},
		"a document":         {"docs/a.md", good + "What was refused was not done.\n", "What was refused was not done."},
		"a cell of a table":  {"docs/a.md", "| a | Those that wait for long. |\n", "Those that wait for long."},
		"a question":         {"docs/a.md", good, ""},
		"a heading":          {"docs/a.md", "# What a change looks like here\n\n" + good, ""},
		"a block of code":    {"docs/a.md", "```\nWhat a block of code says.\n```\n", ""},
		"a label":            {"docs/a.md", "| What it is | b |\n", ""},
		"a generated page":   {"docs/a.md", "Written by `make docs` from a table.\n\nWhat it says is generated.\n", ""},
		"one of two hundred": {"docs/a.md", strings.Repeat(good, 100) + "What was refused was not done.\n", ""},
		"two of two hundreds": {
			"docs/a.md", strings.Repeat(good, 100) + strings.Repeat("What was it stays so. ", 2), "What was it stays so.",
		},
	} {
		found, err := architecture.CheckSentences(fstest.MapFS{c.path: {Data: []byte(c.source)}})
		require.NoError(t, err, name)
		if c.want == "" {
			require.Empty(t, found, name)
			continue
		}
		require.NotEmpty(t, found, name)
		require.Equal(t, "name the noun: "+c.want, found[0].What, name)
	}
}

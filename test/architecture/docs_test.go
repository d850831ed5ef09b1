package architecture_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/architecture"
)

func TestTheDocumentsAreTrueToTheTree(t *testing.T) {
	found, err := architecture.CheckDocs(os.DirFS("../.."))
	require.NoError(t, err)
	for _, v := range found {
		t.Error(v)
	}
}

// documented is a small tree whose documents are in order.
func documented() map[string]string {
	return map[string]string{
		"README.md": "See [the rules](docs/rules.md#rule-1-one-at-a-time), [more](docs/more.md#a-b--c), " +
			"[words](docs/glossary.md) and [decisions](docs/adr/).\n",
		"docs/glossary.md": "# Glossary\n\n## Words that we do not use\n\n| not | but |\n|---|---|\n| `judge`, row | `take` |\n",
		"docs/adr/0001.md": "# Decided\n",
		"docs/more.md": "# More\n\n## `A`, b & c\n\nSee `domain/a.go`, `a.go`, `domain/*.go`, `domain/`, `Slots.Take`, " +
			"`domain.Slots`, `http.Server`, `TestTake`,\n" +
			"rule 1, rules 1 and 1, and [above](#more).\n\n```\n[no link](nowhere.md) `domain/none.go` rule 9\n```\n",
		"docs/rules.md": "# Rules\n\n### Rule 1: One at a time\n\nText.\n\n- **Prevents:** two.\n" +
			"- **Enforced:** `domain/a.go` (`Slots`, `Slots.Take`);\n  `sql/a.sql`\n- **Tests:** `TestTake`\n\n" +
			"### I2: Later (not built yet)\n\nText.\n",
		"domain/a.go": "// Package domain takes slots (engine\n// rule 1).\npackage " +
			"domain\n\nimport _ \"net/http\"\n\n// Slots are taken.\ntype Slots struct{}\n\n// Take takes one.\nfunc (s " +
			"*Slots) Take() {}\n",
		"domain/a_test.go":                       "package domain\n\nimport \"testing\"\n\nfunc TestTake(t *testing.T) {}\n",
		"sql/a.sql":                              "-- rule 1\n",
		"application/manager/engine/firing/a.go": "// Package firing fires, see docs/rules.md.\npackage firing\n",
	}
}

func checkDocs(t *testing.T, files map[string]string) []architecture.Violation {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	found, err := architecture.CheckDocs(tree)
	require.NoError(t, err)
	return found
}

func TestDocumentsInOrderPass(t *testing.T) {
	require.Empty(t, checkDocs(t, documented()))
}

// A field that spells its word in a tag has the name of the wire.
func TestNamesOfTheWireMayHaveAnyWord(t *testing.T) {
	files := documented()
	files["domain/a.go"] += "\n// Row is on the wire.\ntype Row struct {\n\tJudge int `json:\"judge\"`\n}\n"
	require.Empty(t, checkDocs(t, files))
}

func TestEachFaultOfADocumentIsFound(t *testing.T) {
	const rules, more, code = "docs/rules.md", "docs/more.md", "domain/a.go"
	for _, c := range []struct {
		name, file, from, to string
		want                 string // part of the one violation
	}{
		{"a path that is gone", more, "`domain/a.go`", "`domain/b.go`", "domain/b.go does not exist"},
		{"a folder that is gone", more, "`domain/`", "`domain/b/`", "domain/b/ does not exist"},
		{"a file that is gone, by its name", more, "`a.go`", "`b.go`", "b.go does not exist"},
		{"a pattern that fits nothing", more, "`domain/*.go`", "`domain/*.sql`", "domain/*.sql does not exist"},
		{"a name that is gone", more, "`Slots.Take`", "`Slots.Give`", "nothing is called Slots.Give"},
		{"a type that is gone", more, "`Slots.Take`", "`Admitter.Take`", "nothing is called Admitter.Take"},
		{
			"a name that a package does not have", more, "`domain.Slots`", "`domain.Admitter`",
			"nothing is called domain.Admitter",
		},
		{"a package that is gone", more, "`domain.Slots`", "`places.Slots`", "nothing is called places.Slots"},
		{
			"a word that is not used", code, "Take()", "TakeJudge() {}\n\n// Take takes one.\nfunc (s *Slots) Take()",
			`TakeJudge: the glossary does not use the word "judge"`,
		},
		{"a field by a word that is not used", code, "struct{}", "struct{ judge, row int }", `judge: the glossary`},
		{"a test that is gone", more, "`TestTake`", "`TestGive`", "no test TestGive"},
		{"a link to nothing", more, "(#more)", "(none.md)", "docs/none.md, which does not exist"},
		{"an anchor that is gone", more, "(#more)", "(#less)", "no heading for #less"},
		{"an anchor of another document that is gone", "README.md", "#a-b--c", "#a-b", "no heading for #a-b"},
		{"a document that nothing links", "README.md", "docs/more.md#a-b--c", "docs/rules.md", "no other document links it"},
		{"a rule that does not exist, in a document", more, "rule 1,", "rule 2,", "cites rule 2"},
		{"a list of rules", more, "rules 1 and 1", "rules 1 and 3", "cites rule 3"},
		{"a span of rules", more, "rules 1 and 1", "rules 1–2", "cites rule 2"},
		{"a rule that does not exist, in Go, over two lines", code, "rule 1", "rule 7", "cites rule 7"},
		{"a rule that does not exist, in SQL", "sql/a.sql", "rule 1", "rule 7", "cites rule 7"},
		{"an invariant that does not exist", code, "takes one", "takes one (I3)", "cites rule I3"},
		{"a program that cites what is not built", code, "takes one", "takes one (I2)", "not built yet"},
		{"a rule that prevents nothing", rules, "- **Prevents:** two.\n", "", "no line **Prevents:**"},
		{
			"a rule that nothing enforces", rules, "`domain/a.go` (`Slots`, `Slots.Take`);\n  `sql/a.sql`", "somewhere",
			"names no path",
		},
		{"a rule with a path that is gone", rules, "`sql/a.sql`", "`sql/b.sql`", "rule 1: sql/b.sql does not exist"},
		{"a rule with a name that is gone", rules, "`Slots.Take`)", "`Slots.Give`)", "domain/a.go declares no Slots.Give"},
		{"a rule without a test", rules, "`TestTake`", "none", "names no test"},
		{"a rule with a test that is gone", rules, "- **Tests:** `TestTake`", "- **Tests:** `TestGive`", "no test TestGive"},
		{"a rule that is there twice", rules, "### I2: Later", "### Rule 1: One at a time\n\n### I2: Later", "there twice"},
		{
			"a number that is left out", rules, "### I2: Later", "### Rule 3: Later (not built yet)\n\n### I2: Later",
			"rule 2 is missing",
		},
		{
			"a package of the engine that does not say where its rules are", "application/manager/engine/firing/a.go",
			"docs/rules.md", "elsewhere", "does not name docs/rules.md",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := documented()
			require.Contains(t, files[c.file], c.from)
			files[c.file] = strings.Replace(files[c.file], c.from, c.to, 1)
			found := checkDocs(t, files)
			require.NotEmpty(t, found)
			var all []string
			for _, v := range found {
				all = append(all, v.String())
			}
			require.Contains(t, strings.Join(all, "\n"), c.want)
		})
	}
}

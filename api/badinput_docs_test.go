package api_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/apitest"
)

// badInputDocs is the page of codes; badInputGolden holds the answer to each bad call.
const (
	badInputDocs   = "../docs/bad-input.md"
	badInputGolden = "testdata/bad-input.md"
)

const badInputHead = `# Bad input, and what it is answered with

Made from the catalogue of ` + "`api/apitest`" + ` by ` + "`make docs`" + `. Each call is sent to the edge
alone and to whole servers over SQLite and MariaDB, which must refuse it, name the field, say what to do, and change
nothing.`

const goldenHead = badInputHead + ` The numbers group kinds of mistakes; ` + "`JOB`, `RUN`" +
	` stand for ids. Faults that executors refuse or run into (addresses, commands, answers of targets: 85–110) is
tested in ` + "`test/e2e/executor_rows_test.go`" + `.

| | sent | to | answer | field | code |
|---|---|---|---|---|---|
`

const codesHead = badInputHead + `
` + "`api/testdata/bad-input.md`" + ` holds each of these calls. A code without a field is that of the whole answer; all
others stand beside their field in ` + "`errors`" + `.

| code | answer | fields, such as |
|---|---|---|
`

// TestTheDocsShowWhatBadInputIsAnsweredWith keeps the page true; with
// UPDATE_DOCS set it is written anew.
func TestTheDocsShowWhatBadInputIsAnsweredWith(t *testing.T) {
	e := newEdge(t)
	var b strings.Builder
	b.WriteString(goldenHead)
	var lines []line
	paths := map[line][]string{}
	edge := apitest.Edge()
	cases := append(slices.Clone(edge), apitest.Deep()...)
	byEdge := map[string]bool{}
	for _, c := range edge {
		byEdge[c.Name()] = true
	}
	slices.SortFunc(cases, func(a, b apitest.Case) int { // some tables are maps
		return cmp.Or(number(a.Row)-number(b.Row), cmp.Compare(a.Row, b.Row), cmp.Compare(a.Body, b.Body),
			cmp.Compare(a.Method+a.Path, b.Method+b.Path),
			slices.Compare(a.Headers, b.Headers), cmp.Compare(a.Field, b.Field))
	})
	for _, c := range cases {
		if c.Code == "" && byEdge[c.Name()] {
			code, fields := e.call(c.Method, c.Path, c.Body, c.Headers...).problem()
			if c.Code = code; c.Field != "" {
				c.Code = fields[c.Field]
			}
		}
		l := line{number(c.Row), cell(sent(c)), c.Status, cell(c.Field), c.Code}
		if paths[l] == nil {
			lines = append(lines, l)
		}
		paths[l] = append(paths[l], c.Method+" "+cell(c.Path))
	}
	for _, l := range lines {
		to := paths[l][0]
		if more := len(paths[l]) - 1; more > 0 {
			to += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %d | %s | %s |\n", l.row, l.sent, to, l.status, l.field, l.code)
	}
	for file, made := range map[string]string{badInputGolden: b.String(), badInputDocs: codesHead + codesOf(lines)} {
		if os.Getenv("UPDATE_DOCS") != "" {
			require.NoError(t, os.WriteFile(file, []byte(made), 0o644))
		}
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(kept), made, "run the test with UPDATE_DOCS=1")
	}
}

// codesOf are the codes of the lines, each with its answers and the first fields.
func codesOf(lines []line) string {
	type kind struct {
		answers, fields []string
	}
	kinds := map[string]*kind{}
	for _, l := range lines {
		if l.code == "" {
			continue // judged by whole servers alone
		}
		k := kinds[l.code]
		if k == nil {
			k = &kind{}
			kinds[l.code] = k
		}
		if answer := strconv.Itoa(l.status); !slices.Contains(k.answers, answer) {
			k.answers = append(k.answers, answer)
		}
		if l.field != "" && len(k.fields) < 3 && !slices.Contains(k.fields, l.field) {
			k.fields = append(k.fields, l.field)
		}
	}
	var b strings.Builder
	for _, code := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[code]
		slices.Sort(k.answers)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", code, strings.Join(k.answers, ", "), strings.Join(k.fields, ", "))
	}
	return b.String()
}

// line is one of the page; what differs in the address alone shares one.
type line struct {
	row         int
	sent        string
	status      int
	field, code string
}

// sent is what is wrong about a case, as short as can be.
func sent(c apitest.Case) string {
	if c.Body == "" && len(c.Headers) > 0 {
		return strings.Join(c.Headers, ": ")
	}
	for _, common := range []string{
		`{"name":"n","jobType":"CUSTOM","jobClass":"noop",`,
		`"jobClass":"noop","jobType":"CUSTOM","name":"settle orders",`,
	} {
		c.Body = strings.Replace(c.Body, common, "", 1)
	}
	return strings.TrimPrefix(c.Body, "{")
}

// number is the one that a row begins with.
func number(row string) int {
	end := strings.IndexFunc(row, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(row)
	}
	n, _ := strconv.Atoi(row[:end])
	return n
}

// cell makes a text fit into a table.
func cell(text string) string {
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:80]) + "…"
	}
	quoted := strconv.QuoteToASCII(text)
	return "`" + strings.NewReplacer(`\"`, `"`, "|", `\|`, "`", "'").Replace(quoted[1:len(quoted)-1]) + "`"
}

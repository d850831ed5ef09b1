package api_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/apitest"
)

// badInputDocs is the page that shows what bad input is answered with.
const badInputDocs = "../docs/bad-input.md"

const badInputHead = `# Bad input, and what it is answered with

Made from the catalogue of ` + "`api/apitest`" + ` (` + "`UPDATE_DOCS=1 go test ./api -run " +
	"TestTheDocsShowWhatBadInputIsAnsweredWith`" + `). Each line is sent to the edge
alone and to whole servers over SQLite and MariaDB, which must refuse it, name the field, say what to do, and change nothing. The numbers
group kinds of mistakes; ` + "`JOB`, `RUN`" +
	` stand for ids. What executors refuse or run into (addresses, commands, answers of targets: 85–110) is
tested in ` + "`test/e2e/executor_rows_test.go`" + `.

| | sent | to | answer | field | code |
|---|---|---|---|---|---|
`

// TestTheDocsShowWhatBadInputIsAnsweredWith keeps the page true; with
// UPDATE_DOCS set it is written anew.
func TestTheDocsShowWhatBadInputIsAnsweredWith(t *testing.T) {
	e := newEdge(t)
	var b strings.Builder
	b.WriteString(badInputHead)
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
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(badInputDocs, []byte(b.String()), 0o644))
	}
	kept, err := os.ReadFile(badInputDocs)
	require.NoError(t, err)
	require.Equal(t, string(kept), b.String(), "run the test with UPDATE_DOCS=1")
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

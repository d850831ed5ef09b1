package api_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// withAudit is the API with five entries, one of which is a formula.
func withAudit(t *testing.T) *edge {
	e := newEdge(t)
	e.failingLog() // for its pages of two
	for i, name := range []string{"ann", "bob", "=HYPERLINK(1)", "a, \"b\"", "日本"} {
		require.NoError(t, e.Store.AddAudit(t.Context(), entity.AuditEntry{
			ID: string(rune('e' - i)), Time: now, UserName: name, Action: "PUT /x", Status: 200, Changes: `{"a":[1,2]}`,
		}))
	}
	return e
}

func TestTheAuditLogIsExportedWhole(t *testing.T) {
	e := withAudit(t)
	a := e.call("GET", "/api/v1/audit-logs/export", "").want(200)
	require.Equal(t, "text/csv; charset=utf-8", a.header.Get("Content-Type"))
	require.Contains(t, a.header.Get("Content-Disposition"), "attachment")
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 6)
	require.Equal(t, []string{
		"e", "2026-11-20T12:00:00.000Z", "", "ann", "", "", "", "PUT /x", "", "200", "",
		`{"a":[1,2]}`, "", "1",
	}, rows[1])
	require.Equal(t, "'=HYPERLINK(1)", rows[3][3], "no spreadsheet runs it")
	require.Equal(t, "a, \"b\"", rows[4][3])

	a = e.call("GET", "/api/v1/audit-logs/export?format=ndjson", "").want(200)
	lines := strings.Split(strings.TrimSpace(a.body), "\n")
	require.Len(t, lines, 6, "with the export before it")
	var last map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[4]), &last))
	require.Equal(t, "日本", last["username"])
	require.Equal(t, map[string]any{"a": []any{1.0, 2.0}}, last["changes"])

	e.call("GET", "/api/v1/audit-logs/export?format=xml", "").wantField(422, "format", "unknown_value")
	e.call("GET", "/api/v1/audit-logs/export?limit=5", "").wantField(422, "limit", "")
	e.call("GET", "/api/v1/audit-logs/export", "", "Authorization", "Bearer "+operatorToken).wantCode(403, "forbidden")
}

func TestAnExportThatCannotBeFinishedBreaksOff(t *testing.T) {
	e := withAudit(t)
	e.failingLog().pageErr = errors.New("gone")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { e.call("GET", "/api/v1/audit-logs/export", "") })
}

package access

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// AuditController serves /audit-logs.
type AuditController struct {
	Log   *audit.AuditService
	Clock clock.Clock
}

// List answers GET /audit-logs, newest first.
//
//	@Summary List who did what, newest first
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Param userId query string false "who" maxlength(512)
//	@Param action query string false "method and route, such as POST /api/v1/jobs" maxlength(512)
//	@Param object query string false "id of what it was about" maxlength(512)
//	@Param objectName query string false "name of what it was about" maxlength(512)
//	@Param from query string false "first moment, RFC 3339" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339" format(date-time)
//	@Success 200 {object} vo.Page[vo.AuditEntry]
//	@Router /api/v1/audit-logs [get]
func (a *AuditController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f, page := auditFilter(q), q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	entries, next, err := a.Log.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	return reply.Found(c, page, entries, next, vo.FromAudit)
}

// exportPage is how many entries are read at once; the memory of an export
// does not grow with the log.
const exportPage = 1000

// The formats of an export.
const (
	formatCSV    = "csv"
	formatNDJSON = "ndjson"
)

// entryWriter writes entries in one format.
type entryWriter interface {
	write(e entity.AuditEntry) error
	// flush hands on what is held back.
	flush() error
}

// Export answers GET /audit-logs/export: every entry of a filter, newest first,
// as CSV or as a JSON object on each line. It is sent while it is read. An export that
// cannot be finished breaks off without the end of the message: nobody takes it for
// whole.
//
//	@Summary Export the audit log
//	@Description Every entry of the filter, newest first.
//	@Produce text/csv,application/x-ndjson
//	@Param userId query string false "of this user"
//	@Param action query string false "method and route"
//	@Param object query string false "id of what it was about"
//	@Param objectName query string false "name of what it was about"
//	@Param from query string false "first moment, RFC 3339" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339" format(date-time)
//	@Param format query string false "of the export" Enums(csv,ndjson) default(csv)
//	@Success 200 {string} string
//	@Router /api/v1/audit-logs/export [get]
func (a *AuditController) Export(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f := auditFilter(q)
	format := request.OneOf(q, "format", formatCSV, formatNDJSON)
	if err := q.Done(); err != nil {
		return err
	}
	ctx, page := c.Request.Context(), repository.Page{Limit: exportPage}
	entries, next, err := a.Log.List(ctx, f, page)
	if err != nil {
		return err
	}
	w, control := newEntryWriter(c, format), http.NewResponseController(c.Writer)
	for {
		_ = control.SetWriteDeadline(a.Clock.Now().Add(reply.ExportWriteTimeout)) // not every writer can
		for _, e := range entries {
			if err := w.write(e); err != nil {
				return nil //nolint:nilerr // the caller is gone
			}
		}
		if err := w.flush(); err != nil || next == "" {
			return nil //nolint:nilerr // the caller is gone
		}
		page.Cursor = next
		if entries, next, err = a.Log.List(ctx, f, page); err != nil {
			panic(http.ErrAbortHandler) //nolint:forbidigo // the one way to break an answer off
		}
	}
}

func auditFilter(q *request.Query) repository.AuditFilter {
	f := repository.AuditFilter{
		UserID: q.Text("userId"), Action: q.Text("action"), Object: q.Text("object"),
		ObjectName: q.Text("objectName"),
	}
	f.From, f.To = q.Span()
	return f
}

func newEntryWriter(c *gin.Context, format string) entryWriter {
	if format == formatNDJSON {
		c.Header("Content-Type", "application/x-ndjson")
		c.Header("Content-Disposition", `attachment; filename="audit-log.ndjson"`)
		return &ndjsonEntries{json.NewEncoder(c.Writer)}
	}
	c.Header("Content-Type", "text/csv; charset=utf-8")
	c.Header("Content-Disposition", `attachment; filename="audit-log.csv"`)
	w := &csvEntries{csv.NewWriter(c.Writer)}
	_ = w.w.Write([]string{
		"id", "time", "userId", "username", "tokenId", "address", "requestId", "action", "object",
		"status", "code", "changes", "objectName", "calls",
	}) // told by flush
	return w
}

type ndjsonEntries struct{ w *json.Encoder }

func (n *ndjsonEntries) write(e entity.AuditEntry) error { return n.w.Encode(vo.FromAudit(e)) }

func (*ndjsonEntries) flush() error { return nil }

type csvEntries struct{ w *csv.Writer }

func (n *csvEntries) write(e entity.AuditEntry) error {
	return n.w.Write([]string{
		e.ID, vo.Time(e.Time).String(), e.UserID, reply.Cell(e.UserName), e.TokenID, reply.Cell(e.Address),
		reply.Cell(e.RequestID),
		reply.Cell(e.Action), reply.Cell(e.Object), strconv.Itoa(e.Status), reply.Cell(e.Code), reply.Cell(e.Changes),
		reply.Cell(e.ObjectName), strconv.Itoa(max(e.Calls, 1)),
	})
}

func (n *csvEntries) flush() error {
	n.w.Flush()
	return n.w.Error()
}

package access

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// AuditService keeps who did what.
type AuditService interface {
	Record(ctx context.Context, e entity.AuditEntry) error
	List(ctx context.Context, f repository.AuditFilter,
		p repository.Page) (entries []entity.AuditEntry, next string, err error)
}

// AuditController serves /audit-logs.
type AuditController struct {
	log   AuditService
	clock clock.Clock
}

// NewAuditController serves the log of a service.
func NewAuditController(log AuditService, c clock.Clock) *AuditController {
	return &AuditController{log: log, clock: c}
}

// List answers GET /audit-logs, newest first.
//
//	@Summary List who did what, newest first
//	@Description Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags audit
//	@Param userId query string false "who" maxlength(512)
//	@Param action query string false "method and route, such as POST /api/v1/jobs" maxlength(512)
//	@Param object query string false "id of what it was about" maxlength(512)
//	@Param objectName query string false "name of what it was about" maxlength(512)
//	@Param from query string false "first moment, RFC 3339" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339" format(date-time)
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.AuditEntry]
//	@Router /api/v1/audit-logs [get]
func (a *AuditController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	f, page := auditFilter(q), q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	entries, next, err := a.log.List(c.Request.Context(), f, page)
	if err != nil {
		return err
	}
	items := make([]vo.AuditEntry, len(entries))
	for i, e := range entries {
		items[i] = vo.FromAudit(e)
	}
	return reply.Found(c, page, items, next)
}

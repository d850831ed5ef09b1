package controller

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// AuditService keeps who did what.
type AuditService interface {
	Record(ctx context.Context, e entity.AuditEntry) error
	List(ctx context.Context, f repository.AuditFilter, p repository.Page) (entries []entity.AuditEntry, next string, err error)
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
	return reply(c, http.StatusOK, vo.NewPage(items, next))
}

package service

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The bounds of an audit entry, in bytes where not said otherwise.
const (
	maxAuditText    = 200
	maxAuditChanges = 64 << 10
)

// AuditService keeps who did what. It is safe for concurrent use.
type AuditService struct {
	log   repository.Audit
	clock clock.Clock
}

// NewAuditService keeps entries in a repository.
func NewAuditService(log repository.Audit, c clock.Clock) *AuditService {
	return &AuditService{log: log, clock: c}
}

// Record adds an entry; its id and its time are made here, and its texts are
// made to fit.
func (s *AuditService) Record(ctx context.Context, e entity.AuditEntry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make an id for an audit entry: %w", err)
	}
	e.ID, e.Time = id.String(), s.clock.Now()
	for _, text := range []*string{&e.UserName, &e.Address, &e.Code} {
		*text = validation.Text(*text, maxAuditText/2)
	}
	for _, text := range []*string{&e.Action, &e.Object} {
		*text = validation.Text(*text, maxAuditText)
	}
	if len(e.Changes) > maxAuditChanges {
		e.Changes = `{"…":"the changes are too long to be kept here; see the versions"}`
	}
	return s.log.AddAudit(ctx, e)
}

// List is one page of entries, newest first.
func (s *AuditService) List(ctx context.Context, f repository.AuditFilter, p repository.Page) ([]entity.AuditEntry, string, error) {
	return s.log.ListAudit(ctx, f, p)
}

// Package audit keeps who did what.
package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The bounds of an audit entry, in bytes where not said otherwise.
const (
	maxAuditText    = 200
	maxAuditChanges = 64 << 10
	// partWriters is how many parts of a call are written at once: the store shares commits of entries
	// that come together.
	partWriters = 64
)

// AuditService keeps who did what. It is safe for concurrent use.
type AuditService struct {
	log   repository.Audit
	clock clock.Clock
	fold  *auditFold
}

// NewAuditService keeps entries in a repository. Flush must be called now and
// then, and at the end.
func NewAuditService(log repository.Audit, c clock.Clock) *AuditService {
	return &AuditService{log: log, clock: c, fold: newAuditFold()}
}

// Record adds an entry. It sets id and time, and cuts and cleans the strings. Of equal
// refused calls it stores the first one of a minute. The next Flush adds one entry for the
// others. The parts of a call get entries of their own. That of the call is stored first, as it
// matters most where the time is short, and has the newest id, so that it stands above them in a list.
func (s *AuditService) Record(ctx context.Context, e entity.AuditEntry) error {
	if refused(e) && !s.fold.first(s.clock.Monotonic(), e) {
		return nil
	}
	entries := make([]entity.AuditEntry, 0, len(e.Parts)+1)
	for _, part := range e.Parts {
		own := e
		own.Object, own.ObjectName, own.Changes = part.Object, part.ObjectName, part.Changes
		entries = append(entries, own)
	}
	entries = append(entries, e)
	for i := range entries {
		if err := s.prepare(&entries[i]); err != nil {
			return err
		}
	}
	parts, call := entries[:len(e.Parts)], entries[len(e.Parts)]
	if err := s.log.AddAudit(ctx, call); err != nil {
		return err
	}
	var writers errgroup.Group
	writers.SetLimit(partWriters)
	for _, part := range parts {
		writers.Go(func() error { return s.log.AddAudit(ctx, part) })
	}
	return writers.Wait()
}

// Flush adds the entries of the calls that were counted, of minutes that are
// over; of all with last. An entry that cannot be stored is kept for the next time.
func (s *AuditService) Flush(ctx context.Context, last bool) error {
	var err error
	for _, folded := range s.fold.take(s.clock.Monotonic(), last) {
		if failed := s.add(ctx, folded.entry); failed != nil {
			s.fold.giveBack(folded)
			err = errors.Join(err, failed)
		}
	}
	return err
}

func (s *AuditService) add(ctx context.Context, e entity.AuditEntry) error {
	if err := s.prepare(&e); err != nil {
		return err
	}
	return s.log.AddAudit(ctx, e)
}

// prepare gives an entry its id and time, and makes it fit.
func (s *AuditService) prepare(e *entity.AuditEntry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make an id for an audit entry: %w", err)
	}
	e.ID, e.Time, e.Parts = id.String(), s.clock.Now(), nil
	for _, text := range []*string{&e.UserName, &e.Address, &e.Code} {
		*text = validation.Text(*text, maxAuditText/2)
	}
	for _, text := range []*string{&e.Action, &e.Object, &e.ObjectName} {
		*text = validation.Text(*text, maxAuditText)
	}
	if len(e.Changes) > maxAuditChanges {
		e.Changes = `{"…":"the changes are too long to be kept here; see the versions"}`
	}
	return nil
}

// SignInAction is the action of the entries of sign-ins.
const SignInAction = "POST /api/v1/auth/login"

// The bounds of a look for former sign-ins.
const (
	signInsLooked = 200
	signInsAge    = 90 * 24 * time.Hour
)

// SignInAddresses implements access.PastSignIns by a look at the newest entries of a
// user.
func (s *AuditService) SignInAddresses(ctx context.Context, userID string) ([]string, error) {
	f := repository.AuditFilter{UserID: userID, Action: SignInAction, From: s.clock.Now().Add(-signInsAge)}
	entries, _, err := s.log.ListAudit(ctx, f, repository.Page{Limit: signInsLooked})
	if err != nil {
		return nil, fmt.Errorf("look for former sign-ins: %w", err)
	}
	var addresses []string
	for _, e := range entries { // those that failed name no user
		if !slices.Contains(addresses, e.Address) {
			addresses = append(addresses, e.Address)
		}
	}
	return addresses, nil
}

// List is one page of entries, newest first.
func (s *AuditService) List(ctx context.Context, f repository.AuditFilter,
	p repository.Page,
) ([]entity.AuditEntry, string, error) {
	return s.log.ListAudit(ctx, f, p)
}

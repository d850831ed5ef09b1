package controller

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// ScheduleService tells fire times to come.
type ScheduleService interface {
	// Both describe the schedule in words of a language.
	NextFireTimes(ctx context.Context, jobID string, count int, in schedule.Language) (times []time.Time, description string, err error)
	Preview(ctx context.Context, spec schedule.Spec, from time.Time, count int, in schedule.Language) (times []time.Time, description string, err error)
}

// LedgerService tells what became of the fires of a job.
type LedgerService interface {
	Fires(ctx context.Context, q service.LedgerQuery) (entries []service.LedgerEntry, next string, err error)
}

// ScheduleController serves fire times, to come and past.
type ScheduleController struct {
	schedules ScheduleService
	ledger    LedgerService
	reader    request.JobReader
}

// NewScheduleController serves the fire times of services.
func NewScheduleController(schedules ScheduleService, ledger LedgerService, reader request.JobReader) *ScheduleController {
	return &ScheduleController{schedules: schedules, ledger: ledger, reader: reader}
}

// NextFireTimes answers GET /jobs/{id}/next-fire-times.
func (s *ScheduleController) NextFireTimes(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	count, in := q.Int("count", request.DefaultFireTimes, 1, request.MaxFireTimes), q.Language(c.Request.Header)
	if err := q.Done(); err != nil {
		return err
	}
	times, description, err := s.schedules.NextFireTimes(c.Request.Context(), c.Param("id"), count, in)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.FireTimes{FireTimes: vo.Times(times), Description: description})
}

// Fires answers GET /jobs/{id}/fires, the fire ledger.
func (s *ScheduleController) Fires(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	from, to := q.Span()
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	entries, next, err := s.ledger.Fires(c.Request.Context(), service.LedgerQuery{
		JobID: c.Param("id"), From: from, To: to, Limit: page.Limit, Cursor: page.Cursor,
	})
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.NewPage(vo.FromFires(entries), next))
}

// Preview answers POST /schedules/preview. Nothing is stored.
func (s *ScheduleController) Preview(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	in := q.Language(c.Request.Header)
	if err := q.Done(); err != nil {
		return err
	}
	p, err := s.reader.Preview(c.Request)
	if err != nil {
		return err
	}
	times, description, err := s.schedules.Preview(c.Request.Context(), p.Spec, p.From, p.Count, in)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, vo.FireTimes{FireTimes: vo.Times(times), Description: description})
}

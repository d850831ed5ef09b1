package job

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// ScheduleService tells fire times to come.
type ScheduleService interface {
	// Both describe the schedule in words of a language.
	NextFireTimes(ctx context.Context, jobID string, count int,
		in schedule.Language) (times []time.Time, description string, err error)
	Preview(ctx context.Context, spec schedule.Spec, from time.Time, count int,
		in schedule.Language) (times []time.Time, description string, err error)
}

// LedgerService tells what became of the fires of a job.
type LedgerService interface {
	Fires(ctx context.Context, q execution.LedgerQuery) (entries []execution.LedgerEntry, next string, err error)
}

// ScheduleController serves fire times, to come and past.
type ScheduleController struct {
	schedules ScheduleService
	ledger    LedgerService
	reader    request.JobReader
}

// NewScheduleController serves the fire times of services.
func NewScheduleController(schedules ScheduleService, ledger LedgerService,
	reader request.JobReader,
) *ScheduleController {
	return &ScheduleController{schedules: schedules, ledger: ledger, reader: reader}
}

// NextFireTimes answers GET /jobs/{id}/next-fire-times.
//
//	@Summary List the next fire times of a job
//	@Tags schedules
//	@Param id path string true "id of the job"
//	@Param count query int false "how many" minimum(1) maximum(1000) default(10)
//	@Param lang query string false "of the description; else the one that Accept-Language puts first" Enums(en,zh)
//	@Success 200 {object} vo.FireTimes
//	@Router /api/v1/jobs/{id}/next-fire-times [get]
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
	return reply.JSON(c, http.StatusOK, vo.FireTimes{FireTimes: vo.Times(times), Description: description})
}

// Fires answers GET /jobs/{id}/fires, the fire ledger.
//
//	@Summary Show what became of each fire of a job
//	@Description The fire ledger, newest first: times to come are PLANNED, a fire that nothing runs of yet is WAITING, and waitsFor says for what. Without from and to it tells the last 24 hours and the next hour; a skipped range that began before is its last line. The cursor is the moment of the last line, in milliseconds.
//	@Tags schedules
//	@Param id path string true "id of the job"
//	@Param from query string false "first moment, RFC 3339; default: 24 hours before to, or before now where that is later" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339; default: in an hour" format(date-time)
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Fire]
//	@Router /api/v1/jobs/{id}/fires [get]
func (s *ScheduleController) Fires(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	from, to := q.Span()
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	entries, next, err := s.ledger.Fires(c.Request.Context(), execution.LedgerQuery{
		JobID: c.Param("id"), From: from, To: to, Limit: page.Limit, Cursor: page.Cursor,
	})
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(vo.FromFires(entries), next))
}

// Preview answers POST /schedules/preview. Nothing is stored.
//
//	@Summary List the times at which a schedule would fire
//	@Description Nothing is stored.
//	@Tags schedules
//	@Param lang query string false "of the description; else the one that Accept-Language puts first" Enums(en,zh)
//	@Param body body request.PreviewBody true "body"
//	@x-example {"schedule":{"cronExpression":"0 0/5 * * * ?","timeZone":"Asia/Shanghai"},"count":5}
//	@Success 200 {object} vo.FireTimes
//	@Router /api/v1/schedules/preview [post]
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
	return reply.JSON(c, http.StatusOK, vo.FireTimes{FireTimes: vo.Times(times), Description: description})
}

package job

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ScheduleController serves fire times, to come and past.
type ScheduleController struct {
	Jobs   JobService
	Runs   Executions
	Reader request.JobReader
}

// NextFireTimes answers GET /jobs/{id}/next-fire-times.
//
//	@Summary List the next fire times of a job
//	@Tags schedules
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
	times, description, err := s.Jobs.NextFireTimes(c.Request.Context(), c.Param("id"), count, in)
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
//	@Param from query string false "first moment, RFC 3339; default: 24 hours before to, or before now where that is later" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339; default: in an hour" format(date-time)
//	@Success 200 {object} vo.Page[vo.Fire]
//	@Router /api/v1/jobs/{id}/fires [get]
func (s *ScheduleController) Fires(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	from, to := q.Span()
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	entries, next, err := s.Runs.Fires(c.Request.Context(), entity.LedgerQuery{
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
	p, err := s.Reader.Preview(c.Request)
	if err != nil {
		return err
	}
	times, description, err := s.Jobs.Preview(c.Request.Context(), p.Spec, p.From, p.Count, in)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FireTimes{FireTimes: vo.Times(times), Description: description})
}

// WhyController serves explanations.
type WhyController struct{ Explainer *explain.ExplainService }

// Why answers GET /jobs/{id}/why.
//
//	@Summary Explain why a job did, or did not, fire at a moment
//	@Description One answer from the fire ledger, the definition of that time, pauses, limits, nodes and alerts. It is about the fire of that very moment, the range of skipped fires that holds it, or the first fire of its minute; without a moment about the latest fire. Facts about runs need execution:read, those about alerts alert:read.
//	@Tags schedules
//	@Param id path string true "id of the job, also of a deleted one"
//	@Param at query string false "moment, RFC 3339, or as 2026-03-29T02:30 a time of the clock in timeZone; the latest fire by default"
//	@Param timeZone query string false "IANA zone of the times in texts, and of at without a zone; that of the job by default"
//	@Success 200 {object} vo.Explanation
//	@Failure 404 {object} problem.Problem "there was never such a job"
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/jobs/{id}/why [get]
func (w *WhyController) Why(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := explain.Query{JobID: c.Param("id"), Zone: q.Zone("timeZone")}
	ask.At, ask.Wall = q.Moment("at")
	if err := q.Done(); err != nil {
		return err
	}
	if who, ok := middleware.CallerOf(c); ok {
		ask.SeesRuns = permission.Allows(who, permission.ExecutionRead)
		ask.SeesRunsOf = func(group string) bool { return permission.AllowsIn(who, permission.ExecutionRead, group) }
		ask.SeesAlerts = permission.Allows(who, permission.AlertRead)
	}
	answer, err := w.Explainer.Explain(c.Request.Context(), ask)
	return reply.Shown(c, answer, err, vo.FromAnswer)
}

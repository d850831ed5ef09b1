package alerting

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// RuleService manages rules.
type RuleService = SettingService[alert.Rule, *alert.Rule]

// RuleJobs finds the jobs that rules name.
type RuleJobs interface {
	// GroupsOf maps the ids of jobs to their groups; what does not exist is left out.
	GroupsOf(ctx context.Context, ids []string) (map[string]string, error)
}

// DryRunner says what a rule would have raised in the past.
type DryRunner interface {
	// DryRun is apperror.KindTooMany while others do too many.
	DryRun(ctx context.Context, rule *alert.Rule, from, to time.Time) (*dryrun.Report, error)
}

// RuleController serves /alert-rules.
type RuleController struct {
	s    settings[alert.Rule, *alert.Rule]
	jobs RuleJobs
	dry  DryRunner
}

// NewRuleController serves the rules of a service.
func NewRuleController(service RuleService, jobs RuleJobs, dry DryRunner) *RuleController {
	r := &RuleController{jobs: jobs, dry: dry}
	r.s = settings[alert.Rule, *alert.Rule]{
		alert.KindRule, service, request.ReadRule, func(v *alert.Rule, _ entity.Principal) any { return vo.FromRule(v) },
		r.permit,
	}
	return r
}

// permit is nil if the caller holds the right on each target of the rule's actions. They act
// with the rights of who saved the rule last.
func (r *RuleController) permit(c *gin.Context, _, next *alert.Rule) error {
	who, _ := middleware.CallerOf(c)
	next.EditorID = who.User.ID
	needs := rules.Needs(next)
	var ids []string
	for _, need := range needs {
		if need.JobID != "" {
			ids = append(ids, need.JobID)
		}
	}
	groups, err := r.jobs.GroupsOf(c.Request.Context(), ids)
	if err != nil {
		return err
	}
	for _, need := range needs {
		group, known := need.Group, true
		if need.JobID != "" {
			group, known = groups[need.JobID]
		}
		switch {
		case !known || group != "" && !permission.Sees(who, group):
			return apperror.InvalidField(need.Field, "unknown_job",
				"acts on the job "+need.JobID+", which is the id of no job")
		case !permission.AllowsFor(who, permission.Permission(need.Permission), group):
			where := "all groups"
			if group != "" {
				where = "the group " + group
			}
			return apperror.New(apperror.KindForbidden, "action_forbidden",
				"the rule would act with your rights: for "+need.Field+" you need the permission "+need.Permission+" in "+where)
		}
	}
	return nil
}

// List answers GET /alert-rules.
//
//	@Summary List the rules
//	@Description By name: those for all groups, and those of the groups of the caller. Send nextCursor of an answer as cursor to get the page after it; null ends the list.
//	@Tags alerts
//	@Param limit query int false "most items of the page" minimum(1) maximum(200) default(50)
//	@Param cursor query string false "nextCursor of the page before" maxlength(512)
//	@Success 200 {object} vo.Page[vo.Rule]
//	@Router /api/v1/alert-rules [get]
func (r *RuleController) List(c *gin.Context) error { return r.s.list(c) }

// Create answers POST /alert-rules.
//
//	@Summary Make an alert rule
//	@Description A rule of a group sees the jobs of that group alone. It may name channels of its group, and those for all groups.
//	@Tags alerts
//	@Param body body request.RuleBody true "body"
//	@x-example {"name":"billing fails","group":"billing","type":"CONSECUTIVE_FAILURES","level":"CRITICAL","threshold":3,"channelIds":[]}
//	@Success 201 {object} vo.Rule
//	@Header 201 {string} Location "address of what was made"
//	@Header 201 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/alert-rules [post]
func (r *RuleController) Create(c *gin.Context) error { return r.s.create(c) }

// Get answers GET /alert-rules/{id}.
//
//	@Summary Show one alert rule
//	@Tags alerts
//	@Param id path string true "id of the alert rule"
//	@Success 200 {object} vo.Rule
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Router /api/v1/alert-rules/{id} [get]
func (r *RuleController) Get(c *gin.Context) error { return r.s.get(c) }

// Replace answers PUT /alert-rules/{id}.
//
//	@Summary Replace an alert rule
//	@Description Replaces all but the group: an absent field is at its default. Needs the version that was read, in the body (stale: 409) or as If-Match (stale: 412).
//	@Tags alerts
//	@Param id path string true "id of the alert rule"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Param body body request.RuleBody true "body"
//	@x-example {"name":"billing fails","type":"CONSECUTIVE_FAILURES","level":"CRITICAL","threshold":5,"channelIds":[],"version":1}
//	@Success 200 {object} vo.Rule
//	@Header 200 {string} ETag "the version, for If-Match"
//	@Failure 409 {object} problem.Problem "stale version, or the name is taken"
//	@Router /api/v1/alert-rules/{id} [put]
func (r *RuleController) Replace(c *gin.Context) error { return r.s.replace(c) }

// Delete answers DELETE /alert-rules/{id}.
//
//	@Summary Delete an alert rule
//	@Tags alerts
//	@Param id path string true "id of the alert rule"
//	@Param If-Match header string false "ETag of the version that was read; a stale one is 412"
//	@Success 204 "done, no body"
//	@Failure 409 {object} problem.Problem "it is a rule of the first start, which can be switched off, or somebody changed it at the same time"
//	@Router /api/v1/alert-rules/{id} [delete]
func (r *RuleController) Delete(c *gin.Context) error { return r.s.remove(c) }

// Validate answers POST /alert-rules/validate.
//
//	@Summary Check a rule without keeping it
//	@Description Answers as POST /alert-rules would, all that is wrong at once, and keeps nothing. A name may be taken. Needs alert:read in the group of the rule; for all groups the caller must be bound to none.
//	@Tags alerts
//	@Param body body request.RuleBody true "body"
//	@x-example {"name":"slow billing","type":"EXPRESSION","level":"WARNING","scope":{"groups":["billing"]},"expression":"durationMs > 60000"}
//	@Success 200 {object} vo.Valid
//	@Router /api/v1/alert-rules/validate [post]
func (r *RuleController) Validate(c *gin.Context) error {
	d, err := r.s.body(c, nil, permission.AlertRead)
	if err != nil {
		return err
	}
	if err := r.s.service.Check(c.Request.Context(), nil, d.Value); err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.Valid{Valid: true})
}

// DryRun answers POST /alert-rules/dry-run.
//
//	@Summary Say what a rule would have raised in the past
//	@Description Keeps nothing, tells nobody and acts on nothing. It looks at the newest 20,000 runs of the span, which has at most 31 days. A rule that is switched off is run as if it were on. Needs alert:read in the group of the rule; for all groups the caller must be bound to none.
//	@Tags alerts
//	@Param body body request.DryRunBody true "body"
//	@x-example {"rule":{"name":"billing","type":"FAILURE_RATE","level":"WARNING","threshold":0.2,"windowSec":3600},"from":"2026-11-19T12:00:00.000Z","to":"2026-11-20T12:00:00.000Z"}
//	@Success 200 {object} vo.DryRun
//	@Failure 429 {object} problem.Problem "others do dry runs: try again in a moment"
//	@Router /api/v1/alert-rules/dry-run [post]
func (r *RuleController) DryRun(c *gin.Context) error {
	d, bound := request.ReadDryRun(c.Request)
	if d.Rule == nil {
		return bound
	}
	if err := middleware.PermitFor(c, permission.AlertRead, d.Rule.Group); err != nil {
		if bound != nil { // the group may be what is wrong
			return bound
		}
		return err
	}
	checked := request.Within("rule", r.s.service.Check(c.Request.Context(), nil, d.Rule))
	switch {
	case bound != nil:
		return request.JoinFaults(bound, checked)
	case checked != nil:
		return checked
	}
	report, err := r.dry.DryRun(c.Request.Context(), d.Rule, d.From, d.To)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromDryRun(report))
}

package alerting

import (
	"context"
	"maps"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// RuleJobs finds the jobs that rules name.
type RuleJobs interface {
	// GroupsOf maps the ids of jobs to their groups; what does not exist is left out.
	GroupsOf(ctx context.Context, ids []string) (map[string]string, error)
}

// RuleController serves /alert-rules.
type RuleController struct {
	*Settings[alert.Rule, *alert.Rule]
	jobs RuleJobs
	dry  *alerting.DryRunService
}

// NewRuleController serves the rules of a service.
//
//	@Summary Make an alert rule
//	@Description A rule of a group sees the jobs of that group alone. It may name channels of its group, and those for all groups.
//	@Param body body vo.Rule true "body"
//	@x-example {"name":"billing fails","group":"billing","type":"CONSECUTIVE_FAILURES","level":"CRITICAL","threshold":3,"channelIds":[]}
//	@x-replace {"name":"billing fails","type":"CONSECUTIVE_FAILURES","level":"CRITICAL","threshold":5,"channelIds":[],"version":1}
//	@x-plural "rules"
//	@x-conflict "it is a rule of the first start, which can be switched off"
//	@Success 201 {object} vo.Rule
//	@Failure 409 {object} problem.Problem "the name is taken, there are too many, or a call with the same key is in progress"
//	@Router /api/v1/alert-rules [post]
func NewRuleController(service *alerting.RuleService, jobs RuleJobs, dry *alerting.DryRunService) *RuleController {
	r := &RuleController{jobs: jobs, dry: dry}
	r.Settings = &Settings[alert.Rule, *alert.Rule]{
		kind: alert.KindRule, service: service, read: request.ReadRule, permit: r.permit,
		view: func(v *alert.Rule, _ entity.Principal) any { return vo.FromRule(v) },
	}
	return r
}

// permit is nil if the caller holds the right on each target of the rule's actions. They act
// with the rights of who saved the rule last.
func (r *RuleController) permit(c *gin.Context, _, next *alert.Rule) error {
	return r.PermitActions(c, next, nil)
}

// PermitActions is permit for a rule of a document, which makes some of the jobs itself: made has their groups by the
// ids that stand for them.
func (r *RuleController) PermitActions(c *gin.Context, next *alert.Rule,
	made map[string]repository.AlertJob,
) error {
	who, _ := middleware.CallerOf(c)
	next.EditorID = who.User.ID
	needs := rules.Needs(next)
	var ids []string
	for _, need := range needs {
		if need.JobID != "" {
			ids = append(ids, need.JobID)
		}
	}
	found, err := r.jobs.GroupsOf(c.Request.Context(), ids)
	if err != nil {
		return err
	}
	groups := maps.Clone(found)
	for _, id := range ids {
		if job := made[id]; job.ID != "" {
			groups[id] = job.Group
		}
	}
	for _, need := range needs {
		group, known := need.Group, true
		if need.JobID != "" {
			group, known = groups[need.JobID]
		}
		switch {
		case !known || group != "" && !permission.Sees(who, group):
			if made == nil {
				return apperror.InvalidField(need.Field, "unknown_job", "names no job that you may see")
			}
			return apperror.InvalidField(need.Field+".jobId", "unknown_job",
				"is no job that you may see: write its group, a slash and its name")
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

// Validate answers POST /alert-rules/validate.
//
//	@Summary Check a rule without keeping it
//	@Description Answers as POST /alert-rules would, all that is wrong at once, and keeps nothing. A name may be taken. Needs alert:read in the group of the rule; for all groups the caller must be bound to none.
//	@Param body body vo.Rule true "body"
//	@x-example {"name":"slow billing","type":"EXPRESSION","level":"WARNING","scope":{"groups":["billing"]},"expression":"durationMs > 60000"}
//	@Success 200 {object} vo.Valid
//	@Router /api/v1/alert-rules/validate [post]
func (r *RuleController) Validate(c *gin.Context) error {
	d, err := r.body(c, nil, permission.AlertRead)
	if err != nil {
		return err
	}
	if err := r.service.Check(c.Request.Context(), nil, d.Value); err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.Valid{Valid: true})
}

// DryRun answers POST /alert-rules/dry-run.
//
//	@Summary Say what a rule would have raised in the past
//	@Description Keeps nothing, tells nobody and acts on nothing. It looks at the newest 20,000 runs of the span, which has at most 31 days. A rule that is switched off is run as if it were on. Needs alert:read in the group of the rule; for all groups the caller must be bound to none.
//	@Param body body request.DryRunBody true "body"
//	@x-example {"rule":{"name":"billing","type":"FAILURE_RATE","level":"WARNING","threshold":0.2,"windowSec":3600},"from":"2026-11-19T12:00:00.000Z","to":"2026-11-20T12:00:00.000Z"}
//	@Success 200 {object} vo.DryRun
//	@Failure 429 {object} problem.Problem "you, or others, have dry runs under way: try again in a moment (busy)"
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
	checked := request.Within("rule", r.service.Check(c.Request.Context(), nil, d.Rule))
	switch {
	case bound != nil:
		return request.JoinFaults(bound, checked)
	case checked != nil:
		return checked
	}
	who, _ := middleware.CallerOf(c)
	report, err := r.dry.DryRun(c.Request.Context(), who.User.ID, d.Rule, d.From, d.To)
	return reply.Shown(c, report, err, vo.FromDryRun)
}

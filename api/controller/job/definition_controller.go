package job

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// DefinitionController serves /export and /import.
type DefinitionController struct {
	Definitions *definition.DefinitionService
	Reader      request.JobReader
	Warner      *node.NodeService
	Clock       clock.Clock
	// PermitActions judges what a rule of a document does, and notes the caller as its editor.
	PermitActions func(c *gin.Context, rule *alert.Rule, made map[string]repository.AlertJob) error
}

// The formats of an export.
const (
	formatYAML = "yaml"
	formatJSON = "json"
)

// The parts of a document that an export can have.
const (
	partJobs     = "jobs"
	partAlerting = "alerting"
	partAll      = "all"
)

// Export answers GET /export.
//
//	@Summary Export definitions as one document
//	@Description Ordered by group and name; what POST /import takes. Secrets in clear text are *** where the caller may not edit the job. Of the settings of alerting it has those that the caller may edit, with *** for the secrets of channels.
//	@Produce application/yaml,json
//	@Param group query string false "only the jobs of this group"
//	@Param format query string false "of the document" Enums(yaml,json) default(yaml)
//	@Param parts query string false "jobs with their groups, settings of alerting, or all of them" Enums(jobs,alerting,all) default(jobs)
//	@Success 200 {object} request.DocumentBody
//	@Failure 404 {object} problem.Problem "no such group"
//	@Router /api/v1/export [get]
func (d *DefinitionController) Export(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	group := q.Text("group")
	format := request.OneOf(q, "format", formatYAML, formatJSON)
	parts := cmp.Or(request.OneOf(q, "parts", partJobs, partAlerting, partAll), partJobs)
	if err := q.Done(); err != nil {
		return err
	}
	names := middleware.VisibleGroups(c)
	if group != "" {
		if err := middleware.Permit(c, permission.JobRead, group); err != nil {
			return apperror.NotFound("group", group)
		}
		names = []string{group}
	}
	groups, err := d.Definitions.Groups(c.Request.Context(), names)
	if err != nil {
		return err
	}
	if group != "" && len(groups) == 0 {
		return apperror.NotFound("group", group)
	}
	w := vo.NewDocumentWriter(format == formatJSON)
	c.Header("Content-Type", w.ContentType())
	c.Header("Content-Disposition", `attachment; filename="jobs.`+w.Extension()+`"`)
	w.Begin()
	if parts != partJobs {
		if err := d.exportSettings(c, w, names); err != nil {
			return err
		}
	}
	control := http.NewResponseController(c.Writer)
	push := func(text []byte) error {
		// Not every writer has deadlines; one without is a test's.
		_ = control.SetWriteDeadline(d.Clock.Now().Add(reply.ExportWriteTimeout))
		_, err := c.Writer.Write(text)
		return err
	}
	if parts == partAlerting {
		w.End()
		return push(w.Take())
	}
	if err := w.Groups(groups); err != nil {
		return err
	}
	err = d.Definitions.Jobs(c.Request.Context(), names, func(jobs []*entity.Job) error {
		shown := make([]*entity.Job, len(jobs))
		for i, job := range jobs {
			shown[i] = seen(c, job)
		}
		if err := w.Add(shown); err != nil {
			return err
		}
		return push(w.Take())
	})
	if err != nil {
		return err
	}
	w.EndJobs()
	w.End()
	return push(w.Take())
}

// exportSettings writes the settings that the caller may edit, of some groups; nil is all.
func (d *DefinitionController) exportSettings(c *gin.Context, w *vo.DocumentWriter, groups []string) error {
	who, _ := middleware.CallerOf(c)
	settings, left, err := d.Definitions.Settings(c.Request.Context(), groups, func(kind alert.Kind, group string) bool {
		return permission.AllowsFor(who, permission.OfSetting(kind), group)
	})
	if err != nil {
		return err
	}
	return w.Alerting(settings, left)
}

// Import answers POST /import.
//
//	@Summary Bring jobs and settings of alerting in line with a document
//	@Description Jobs are found by group and name, settings of alerting by kind and name. Everything is checked before anything is changed; then one by one: first what jobs may name, then the jobs, then the rules that name jobs. A channel whose secrets are absent or *** keeps those that are stored; a new one is made disabled, with a warning.
//	@Accept application/yaml,json
//	@Param dryRun query bool false "say what would change, and change nothing" default(false)
//	@Param prune query bool false "delete the other jobs of the groups in the document, and in these groups the other settings of the kinds that it lists" default(false)
//	@Param body body request.DocumentBody true "body"
//	@x-example {"version":1,"groups":[{"name":"tutorial"}],"jobs":[{"name":"from a document","group":"tutorial","jobType":"CUSTOM","jobClass":"noop"}]}
//	@Success 200 {object} vo.Import
//	@Router /api/v1/import [post]
func (d *DefinitionController) Import(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	dryRun, prune := q.Bool("dryRun"), q.Bool("prune")
	if err := q.Done(); err != nil {
		return err
	}
	document, err := d.Reader.Document(c.Request)
	if err != nil {
		return err
	}
	if err := permitDocument(c, document); err != nil {
		return err
	}
	plan, err := d.Definitions.Plan(c.Request.Context(), document, prune)
	if err == nil {
		err = d.permitChanges(c, plan)
	}
	if err != nil {
		return request.InDocument(err)
	}
	about := fmt.Sprintf("%d definitions", len(document.Jobs)+len(document.Settings))
	if dryRun {
		middleware.SetTarget(c, about+", dry run")
	} else {
		d.Definitions.Apply(c.Request.Context(), plan)
		middleware.SetTarget(c, about)
	}
	answer := vo.FromPlan(plan, dryRun, problem.Explain)
	d.warn(c.Request.Context(), plan, answer.Items)
	middleware.SetDiff(c, nil, auditOf(answer))
	if !dryRun {
		notePartsOf(c, answer)
	}
	return reply.JSON(c, http.StatusOK, answer)
}

// warn adds to what a document keeps or makes what its editors are warned of.
func (d *DefinitionController) warn(ctx context.Context, plan *definition.Plan, items []vo.ImportItem) {
	jobs := make([]*entity.Job, len(plan.Jobs))
	for i, c := range plan.Jobs {
		jobs[i] = c.Job()
	}
	for i, found := range d.Warner.Warnings(ctx, jobs...) {
		if plan.Jobs[i].Action != definition.ActionDelete && plan.Jobs[i].Err == nil {
			items[i].Warnings = warnings(jobs[i], append(found, plan.Jobs[i].Warnings...))
		}
	}
}

// permitDocument is nil if the caller may write everything that a document
// speaks of. A wrongly written value is refused for that, later.
func permitDocument(c *gin.Context, d definition.Document) error {
	for _, g := range d.Groups {
		if err := middleware.Permit(c, permission.JobWrite, g.Name); err != nil && g.Name != "" {
			return err
		}
	}
	for _, j := range d.Jobs {
		if len(j.Wrong) > 0 {
			continue
		}
		if err := middleware.PermitDefinition(c, j.Job); err != nil {
			return err
		}
	}
	for _, s := range d.Settings {
		if slices.ContainsFunc(s.Wrong, func(f apperror.Field) bool { return f.Field == s.Path+".group" }) {
			continue
		}
		if err := middleware.PermitFor(c, permission.OfSetting(s.Kind), alert.HeadOf(s.Value).Group); err != nil {
			return err
		}
	}
	return nil
}

// permitChanges is nil if the caller may do what only the plan shows: delete settings that the document does not name,
// and act through rules. It notes who edits settings.
func (d *DefinitionController) permitChanges(c *gin.Context, plan *definition.Plan) error {
	for _, change := range plan.Settings {
		switch change.Action {
		case definition.ActionUnchanged:
			continue
		case definition.ActionDelete:
			group := alert.HeadOf(change.Before).Group
			if err := middleware.PermitFor(c, permission.OfSetting(change.Kind), group); err != nil {
				return err
			}
		}
		switch v := change.After.(type) {
		case *alert.Rule:
			if err := d.PermitActions(c, v, plan.Made); err != nil {
				return request.Within(change.Path, err)
			}
		case *alert.Silence:
			v.By = middleware.ActorOf(c).User
		}
	}
	return nil
}

// notePartsOf notes for the audit log each job and each setting that an import changed.
func notePartsOf(c *gin.Context, v vo.Import) {
	for _, one := range v.Alerting {
		if one.Action != definition.ActionUnchanged && one.Error == nil {
			changes := maps.Clone(one.Changes)
			changes["action"] = [2]any{nil, one.Action}
			middleware.AddPart(c, one.ID, one.Name, changes)
		}
	}
	for _, item := range v.Items {
		if item.Action != definition.ActionUnchanged && item.Error == nil {
			middleware.AddPart(c, item.ID, item.Name, map[string][2]any{"action": {nil, item.Action}})
		}
	}
}

// auditItems is how many jobs of a document the audit log names.
const auditItems = 200

// auditOf is what the audit log keeps of an import: the counts, and which jobs
// were changed.
func auditOf(v vo.Import) map[string]any {
	var changed []string
	for _, item := range v.Items {
		if item.Action != definition.ActionUnchanged && item.Error == nil && len(changed) < auditItems {
			changed = append(changed, strings.Join([]string{string(item.Action), item.Group, item.Name}, " "))
		}
	}
	return map[string]any{
		"created": v.Created, "updated": v.Updated, "unchanged": v.Unchanged, "deleted": v.Deleted, "failed": v.Failed,
		"dryRun": v.DryRun, "jobs": changed,
	}
}

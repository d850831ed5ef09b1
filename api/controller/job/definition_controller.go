package job

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// DefinitionService exchanges jobs as documents.
type DefinitionService interface {
	// Groups and Jobs give out those of the named groups; nil names are all.
	Groups(ctx context.Context, names []string) ([]entity.Group, error)
	Jobs(ctx context.Context, names []string, each func([]*entity.Job) error) error
	Plan(ctx context.Context, d definition.Document, prune bool) (*definition.Plan, error)
	Apply(ctx context.Context, p *definition.Plan)
}

// DefinitionController serves /export and /import.
type DefinitionController struct {
	definitions DefinitionService
	reader      request.JobReader
	warner      Warner
	clock       clock.Clock
}

// NewDefinitionController serves the documents of a service.
func NewDefinitionController(definitions DefinitionService, reader request.JobReader, w Warner,
	c clock.Clock,
) *DefinitionController {
	return &DefinitionController{definitions, reader, w, c}
}

// The formats of an export.
const (
	formatYAML = "yaml"
	formatJSON = "json"
)

// Export answers GET /export.
//
//	@Summary Export definitions as one document
//	@Description Ordered by group and name; what POST /import takes. Secrets in clear text are *** where the caller may not edit the job.
//	@Tags definitions
//	@Produce application/yaml,json
//	@Param group query string false "only the jobs of this group"
//	@Param format query string false "of the document" Enums(yaml,json) default(yaml)
//	@Success 200 {object} request.DocumentBody
//	@Failure 404 {object} problem.Problem "no such group"
//	@Router /api/v1/export [get]
func (d *DefinitionController) Export(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	group := q.Text("group")
	format := request.OneOf(q, "format", formatYAML, formatJSON)
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
	groups, err := d.definitions.Groups(c.Request.Context(), names)
	if err != nil {
		return err
	}
	if group != "" && len(groups) == 0 {
		return apperror.NotFound("group", group)
	}
	w := vo.NewDocumentWriter(format == formatJSON)
	c.Header("Content-Type", w.ContentType())
	c.Header("Content-Disposition", `attachment; filename="jobs.`+w.Extension()+`"`)
	if err := w.Begin(groups); err != nil {
		return err
	}
	control := http.NewResponseController(c.Writer)
	push := func(text []byte) error {
		// Not every writer has deadlines; one without is a test's.
		_ = control.SetWriteDeadline(d.clock.Now().Add(reply.ExportWriteTimeout))
		_, err := c.Writer.Write(text)
		return err
	}
	err = d.definitions.Jobs(c.Request.Context(), names, func(jobs []*entity.Job) error {
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
	w.End()
	return push(w.Take())
}

// Import answers POST /import.
//
//	@Summary Bring jobs in line with a document
//	@Description Jobs are found by group and name. Everything is checked before anything is changed; then job by job.
//	@Tags definitions
//	@Accept application/yaml,json
//	@Param dryRun query bool false "say what would change, and change nothing" default(false)
//	@Param prune query bool false "delete the other jobs of the groups in the document" default(false)
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
	document, err := d.reader.Document(c.Request)
	if err != nil {
		return err
	}
	if err := permitDocument(c, document); err != nil {
		return err
	}
	plan, err := d.definitions.Plan(c.Request.Context(), document, prune)
	if err != nil {
		return err
	}
	about := fmt.Sprintf("%d definitions", len(document.Jobs))
	if dryRun {
		middleware.SetTarget(c, about+", dry run")
	} else {
		d.definitions.Apply(c.Request.Context(), plan)
		middleware.SetTarget(c, about)
	}
	answer := vo.FromPlan(plan, dryRun, problem.Explain)
	d.warn(c.Request.Context(), plan, answer.Items)
	middleware.SetDiff(c, nil, auditOf(answer))
	return reply.JSON(c, http.StatusOK, answer)
}

// warn adds to what a document keeps or makes what its editors are warned of.
func (d *DefinitionController) warn(ctx context.Context, plan *definition.Plan, items []vo.ImportItem) {
	jobs := make([]*entity.Job, len(plan.Jobs))
	for i, c := range plan.Jobs {
		jobs[i] = c.Job()
	}
	for i, found := range d.warner.Warnings(ctx, jobs...) {
		if plan.Jobs[i].Action != definition.ActionDelete && plan.Jobs[i].Err == nil {
			items[i].Warnings = warnings(jobs[i], found)
		}
	}
}

// permitDocument is nil if the caller may write everything that a document
// speaks of. What is wrongly written is refused for that, later.
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
	return nil
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

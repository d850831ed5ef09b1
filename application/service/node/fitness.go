package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// Handler is a handler of CUSTOM jobs and the live nodes that have it.
type Handler struct {
	Name string
	// BuiltIn: every executor has it.
	BuiltIn bool
	// Nodes are those that are up, suspect or drain, by id.
	Nodes []string
}

// Handlers lists the handlers that live nodes have, by name.
func (s *NodeService) Handlers(ctx context.Context) ([]Handler, error) {
	nodes, err := s.registry.All(ctx)
	if err != nil {
		return nil, err
	}
	return handlersOf(nodes), nil
}

func handlersOf(nodes []entity.Node) []Handler {
	at := map[string][]string{}
	for _, name := range entity.BuiltInHandlers() {
		at[name] = []string{}
	}
	for _, n := range nodes {
		if n.Status == entity.NodeDown || !n.Has(entity.RoleExecutor) {
			continue
		}
		for _, name := range append(entity.BuiltInHandlers(), n.Handlers...) {
			at[name] = append(at[name], n.ID)
		}
	}
	out := make([]Handler, 0, len(at))
	for _, name := range slices.Sorted(maps.Keys(at)) {
		out = append(out, Handler{Name: name, BuiltIn: entity.BuiltIn(name), Nodes: at[name]})
	}
	return out
}

// Warnings says of each of the jobs what keeps its runs from starting although it
// is right: no node is fit for them. It reads the registry at most once, and not
// at all for jobs that any executor may run. A store that is not known is told with
// each job. Without an answer of the store there are no warnings of nodes: nothing
// depends on them.
func (s *NodeService) Warnings(ctx context.Context, jobs ...*entity.Job) [][]apperror.Field {
	out := make([][]apperror.Field, len(jobs))
	var nodes []entity.Node
	for i, job := range jobs {
		if s.doubt != "" {
			out[i] = []apperror.Field{{Field: "store", Code: "unknown_store", Message: s.doubt}}
		}
		asked := classesOf(job)
		if len(asked) == 0 {
			continue
		}
		if nodes == nil {
			var err error
			if nodes, err = s.registry.All(ctx); err != nil {
				return out
			}
		}
		for _, a := range asked {
			if w, ok := warning(a.class, nodes); ok {
				w.Field = cmp.Or(a.field, w.Field)
				out[i] = append(out[i], w)
			}
		}
	}
	return out
}

// asked is what a part of a job asks of nodes, and the field that says so; empty is that of the job.
type asked struct {
	class entity.NodeClass
	field string
}

// classesOf is what a job, or the steps of a workflow, ask of nodes. Work that any executor or a worker may do asks
// nothing, and a handler that several steps name is asked for once.
func classesOf(job *entity.Job) (out []asked) {
	if job.Type != entity.JobWorkflow {
		if class := entity.NodeClassOf(job); !class.Anything() && class.Workers == "" {
			out = append(out, asked{class: class})
		}
		return out
	}
	flow, err := workflow.Of(job)
	if err != nil {
		return nil // it is stored, and nothing of it can be run: other places say so
	}
	seen := map[string]bool{}
	for i := range flow.Steps {
		part, err := workflow.StepJob(job, &flow.Steps[i])
		if err != nil {
			continue
		}
		class := entity.NodeClassOf(part)
		if key := fmt.Sprint(class.Command, class.Handler); !class.Anything() && !seen[key] {
			seen[key] = true
			field := ".command"
			if class.Handler != "" {
				field = ".custom.jobClass"
			}
			out = append(out, asked{class, fmt.Sprintf("jobData.steps[%d]%s", i, field)})
		}
	}
	return out
}

func warning(class entity.NodeClass, nodes []entity.Node) (w apperror.Field, ok bool) {
	switch routing.Unfit(class, nodes) {
	case entity.WaitNone:
		return w, false
	case entity.WaitCommand:
		return apperror.Field{Field: "jobType", Code: "no_commands", Message: "no node that is up" + having(class) +
			" runs commands; runs wait until one does: set executor.command.enabled (PS_EXECUTOR_COMMAND_ENABLED) on a node, " +
			"and on one that runs as root executor.command.user (PS_EXECUTOR_COMMAND_USER)"}, true
	case entity.WaitHandler:
		return apperror.Field{Field: "jobClass", Code: "no_handler", Message: fmt.Sprintf(
			"no node that is up%s has the handler %.64q; runs wait until one does; there are %s", having(class), class.Handler,
			known(nodes))}, true
	}
	if len(class.Labels) == 0 {
		return apperror.Field{Field: "jobType", Code: "no_node", Message: "no executor is up; runs wait until one is"}, true
	}
	return apperror.Field{
		Field: "routing.labels", Code: "no_node",
		Message: "no node that is up carries the labels " + labelText(class.Labels) + "; runs wait until one does",
	}, true
}

func having(class entity.NodeClass) string {
	if len(class.Labels) == 0 {
		return ""
	}
	return " and carries the labels " + labelText(class.Labels)
}

// The most entries that a message lists, of each kind.
const (
	maxListed = 20
	maxLabels = 5
)

func labelText(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, fmt.Sprintf("%.50s=%.50s", key, labels[key]))
	}
	if more := len(pairs) - maxLabels; more > 0 {
		pairs = append(pairs[:maxLabels], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(pairs, ", ")
}

func known(nodes []entity.Node) string {
	var names []string
	for _, h := range handlersOf(nodes) {
		names = append(names, fmt.Sprintf("%.64s", h.Name))
	}
	if more := len(names) - maxListed; more > 0 {
		names = append(names[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

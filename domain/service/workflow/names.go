package workflow

import (
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// names are some steps of the workflow, for messages.
func (g *Graph) names() string {
	const most = 20
	var names []string
	for i := range g.def.Steps {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, g.def.Steps[i].Name)
	}
	return strings.Join(names, ", ")
}

// NoStep reports that the workflow has no step of that name, and names those that it has.
func (g *Graph) NoStep(name string) error {
	return apperror.New(apperror.KindNotFound, "not_found", g.noStep(name))
}

// NoStepIn reports it of a field of a request.
func (g *Graph) NoStepIn(field, name string) error {
	return apperror.InvalidField(field, "unknown_step", g.noStep(name))
}

func (g *Graph) noStep(name string) string {
	return fmt.Sprintf("the workflow has no step %.60q in the version of the run; its steps are %s", name, g.names())
}

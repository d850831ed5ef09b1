package explain

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// stepsShown bounds the steps that an answer about an open workflow run names.
const stepsShown = 20

// Standing is where a workflow run and its steps stand.
type Standing struct {
	Run   wf.Run
	Graph *workflow.Graph
	State *wf.State
	// Rows are the executions of steps by their position, of the latest generation; nil where there is none.
	Rows []*entity.Execution
}

// StepAnswer is why a step stands where it stands.
type StepAnswer struct {
	RunID, Step string
	Code        Code
	Params      Params
	Text        string
	// Facts are its needs and the rules that followed.
	Facts []Fact
}

// Step explains a step of a workflow run: which need, how that ended and when, and which rule followed. Times in texts
// are in the zone.
func (s *ExplainService) Step(ctx context.Context, runID, step string, zone *time.Location) (*StepAnswer, error) {
	at, err := s.Standing(ctx, runID)
	if err != nil {
		return nil, err
	}
	key, err := wf.ParseKey(step)
	if err != nil || at.Graph == nil {
		return nil, apperror.NotFound("step", step)
	}
	i, known := at.Graph.Step(key.Name)
	if !known {
		return nil, at.Graph.NoStep(step)
	}
	if zone == nil {
		zone = time.UTC
	}
	c := &inquiry{ExplainService: s, Query: Query{Zone: zone}, answer: &Answer{}}
	c.standingOf(at, i)
	c.rules(at, i)
	first := c.answer.Facts[0]
	return &StepAnswer{
		RunID: runID, Step: key.Name, Code: first.Code, Params: first.Params, Text: first.Text, Facts: c.answer.Facts[1:],
	}, nil
}

// standingOf says where a step stands.
func (c *inquiry) standingOf(at *Standing, i int) {
	step, state, row := &at.Graph.Definition().Steps[i], &at.State.Steps[i], at.Rows[i]
	p, id := Params{"step": step.Name}, ""
	if row != nil {
		id = row.ID
		p["time"], p["reason"], p["message"] = row.EndTime, row.Reason, row.ErrorMessage
	}
	switch {
	case state.Held():
		c.add(FactStepHeld, id, Params{"step": step.Name, "until": state.HeldUntil})
	case state.Fate == wf.FateOpen:
		c.add(FactStepUndecided, "", Params{"step": step.Name})
	case state.Fate == wf.FateLive && step.Kind() == wf.KindApproval:
		c.add(FactStepApproval, id, Params{"step": step.Name, "until": untilOf(row)})
	case state.Fate == wf.FateLive:
		p = Params{"step": step.Name, "status": string(entity.StatusWaiting)}
		if row != nil {
			p["status"], p["waitsFor"], p["until"] = string(row.Status), row.Claim.WaitsFor(), untilOf(row)
		}
		c.add(FactStepLive, id, p)
	default:
		if p["status"] = string(state.Fate.Status()); row == nil || row.Status != state.Fate.Status() {
			p["reason"] = state.Fate.Reason()
		}
		c.add(FactStepEnded, id, p)
	}
}

// untilOf is the moment that a step waits for, or that ends its approval; zero where there is none.
func untilOf(row *entity.Execution) time.Time {
	if row == nil {
		return time.Time{}
	}
	if until, ok := row.Claim.ApprovalUntil(); ok {
		return until
	}
	until, _ := row.Claim.ScheduledUntil()
	return until
}

// rules tells of each need, and of the rules that made the fate of a step.
func (c *inquiry) rules(at *Standing, i int) {
	step, state := &at.Graph.Definition().Steps[i], &at.State.Steps[i]
	switch {
	case step.Finally:
		c.add(FactStepLast, "", nil)
	case len(step.Needs) == 0:
		c.add(FactStepNoNeeds, "", nil)
	}
	succeeded := 0
	for k, need := range at.Graph.Needs(i) {
		edge, other := &step.Needs[k], &at.State.Steps[need]
		on := string(wf.ClassSuccess)
		if edge.On != nil {
			on = strings.Join(convert.All(edge.On, func(w wf.Word) string { return string(w) }), " or ")
		}
		p, id := Params{"need": edge.Step, "on": on}, ""
		if row := at.Rows[need]; row != nil {
			id = row.ID
			p["time"] = row.EndTime
		}
		class := other.Fate.Class()
		p["class"] = string(class)
		switch {
		case other.Held():
			c.add(FactNeedHeld, id, Params{"need": edge.Step, "on": on, "until": other.HeldUntil})
		case !other.Decided():
			c.add(FactNeedOpen, id, Params{"need": edge.Step, "on": on})
		case edge.Accepts(class):
			c.add(FactNeedMet, id, p)
		default:
			c.add(FactNeedUnmet, id, p)
		}
		if class == wf.ClassSuccess {
			succeeded++
		}
	}
	if step.Any() {
		c.add(FactJoinAny, "", nil)
	}
	if step.MinSuccess > 0 {
		c.add(FactMinSuccess, "", Params{"succeeded": succeeded, "minSuccess": step.MinSuccess})
	}
	if step.When != "" {
		c.add(FactStepCondition, "", Params{"when": step.When})
	}
	if state.Items != nil {
		n := workflow.CountsOf(state.Items)
		c.add(FactStepItems, "", Params{
			"total": n.Total, "succeeded": n.Succeeded, "failed": n.Failed, "live": n.Live, "notRun": n.NotRun,
		})
	}
	c.failed(at, i)
}

// failed says what the failure of a step means for the run.
func (c *inquiry) failed(at *Standing, i int) {
	def := at.Graph.Definition()
	if at.State.Steps[i].Fate.Class() != wf.ClassFailure {
		return
	}
	if def.Steps[i].Tolerate {
		c.add(FactStepTolerated, "", nil)
	}
	for other := range def.Steps {
		for k, need := range at.Graph.Needs(other) {
			if need == i && def.Steps[other].Needs[k].Accepts(wf.ClassFailure) {
				c.add(FactStepAwaited, "", nil)
				return
			}
		}
	}
}

// openRun names the steps for which an open workflow run waits.
func (c *inquiry) openRun(ctx context.Context, root *entity.Execution) error {
	if c.Standing == nil {
		return nil
	}
	at, err := c.Standing(ctx, root.ID)
	if apperror.Is(err, apperror.KindNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if at.Run.Phase == wf.PhasePaused {
		c.add(FactWorkflowPaused, at.Run.ID, Params{"error": at.Run.Problem})
	}
	if at.Graph == nil {
		return nil
	}
	c.inTheWayOf(at)
	return nil
}

// inTheWayOf names the steps that an open run waits for: first those that need people, then those that are live, then
// those that wait for them.
func (c *inquiry) inTheWayOf(at *Standing) {
	var held, asked, live []int
	var waiting []string
	for i := range at.State.Steps {
		step := &at.Graph.Definition().Steps[i]
		switch s := &at.State.Steps[i]; {
		case s.Held():
			held = append(held, i)
		case s.Fate == wf.FateOpen:
			waiting = append(waiting, step.Name)
		case s.Fate == wf.FateLive && step.Kind() == wf.KindApproval:
			asked = append(asked, i)
		case s.Fate == wf.FateLive:
			live = append(live, i)
		}
	}
	all := slices.Concat(held, asked, live)
	for _, i := range all[:min(len(all), stepsShown)] {
		c.standingOf(at, i)
	}
	if more := len(all) - stepsShown; more > 0 {
		c.add(FactStepsMore, "", Params{"count": more})
	}
	if len(waiting) == 0 {
		return
	}
	p := Params{"count": len(waiting), "steps": strings.Join(waiting[:min(len(waiting), stepsShown)], ", ")}
	if more := len(waiting) - stepsShown; more > 0 {
		p["more"] = more
	}
	c.add(FactStepsWait, "", p)
}

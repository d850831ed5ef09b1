package vo

import (
	"cmp"

	"github.com/platform-scheduler/platform-scheduler/application/service/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// WorkflowGraph is the steps of a workflow and the edges between them.
type WorkflowGraph struct {
	WorkflowID    string `json:"workflowId"`
	Version       int    `json:"version"`
	OnStepFailure string `json:"onStepFailure" enums:"GO_ON,STOP,HOLD"`
	// HoldSec is how long a failed step is held at most, under HOLD.
	HoldSec int             `json:"holdSec"`
	Steps   []WorkflowPoint `json:"steps"`
}

// WorkflowPoint is a step of a graph.
type WorkflowPoint struct {
	Name string `json:"name"`
	// StepID is the jobId of its executions over all runs, for steps whose work stands in the workflow.
	StepID     string         `json:"stepId"`
	Kind       string         `json:"kind" enums:"http,command,custom,job,approval,wait"`
	Needs      []WorkflowNeed `json:"needs"`
	Join       string         `json:"join" enums:"ALL,ANY"`
	MinSuccess int            `json:"minSuccess"`
	// When is its condition, and empty for none.
	When     string `json:"when"`
	Tolerate bool   `json:"tolerate"`
	Finally  bool   `json:"finally"`
	// ForEach is null for a step that is no map.
	ForEach *WorkflowMap `json:"forEach" extensions:"x-nullable"`
	// Job is the one that the step names, and null for others.
	Job *WorkflowJob `json:"job" extensions:"x-nullable"`
}

// WorkflowNeed is an edge: the step that is needed, and the ends that are asked for.
type WorkflowNeed struct {
	Step string   `json:"step"`
	On   []string `json:"on"`
}

// WorkflowMap bounds the items of a map.
type WorkflowMap struct {
	MaxParallel int `json:"maxParallel"`
	MaxItems    int `json:"maxItems"`
}

// WorkflowJob is a job that a step names.
type WorkflowJob struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// FromWorkflowGraph makes the view of a graph. Defaults are filled in.
func FromWorkflowGraph(g *workflowrun.Graph) WorkflowGraph {
	def := g.Definition
	return WorkflowGraph{
		WorkflowID: g.Job.ID, Version: g.Job.Version, OnStepFailure: string(cmp.Or(def.OnStepFailure, wf.GoOn)),
		HoldSec: def.HoldFor(), Steps: convert.All(def.Steps, func(s wf.Step) WorkflowPoint {
			p := WorkflowPoint{
				Name: s.Name, StepID: wf.StepID(g.Job.ID, s.Name), Kind: string(s.Kind()),
				Needs: convert.All(s.Needs, fromNeed), Join: string(cmp.Or(s.Join, wf.JoinAll)), MinSuccess: s.MinSuccess,
				When: s.When, Tolerate: s.Tolerate, Finally: s.Finally,
			}
			if s.ForEach != nil {
				p.ForEach = &WorkflowMap{MaxParallel: s.ForEach.Window(), MaxItems: s.ForEach.Most()}
			}
			if s.Job != nil {
				p.Job = &WorkflowJob{ID: s.Job.ID, Name: s.Job.Name}
			}
			return p
		}),
	}
}

func fromNeed(n wf.Need) WorkflowNeed {
	if n.On == nil {
		return WorkflowNeed{Step: n.Step, On: []string{string(wf.ClassSuccess)}}
	}
	return WorkflowNeed{Step: n.Step, On: convert.All(n.On, func(w wf.Word) string { return string(w) })}
}

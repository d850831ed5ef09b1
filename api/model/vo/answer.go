package vo

import "github.com/platform-scheduler/platform-scheduler/api/problem"

// Executions names the runs that a call made.
type Executions struct {
	ExecutionIDs []string `json:"executionIds"`
}

// FromIDs wraps ids.
func FromIDs(ids []string) Executions { return Executions{ExecutionIDs: whole(ids)} }

// NewExecution names the one run that a retry or a replay made.
type NewExecution struct {
	ExecutionID  string   `json:"executionId"`
	ExecutionIDs []string `json:"executionIds"`
}

// FromID wraps an id, also as a list, as triggers answer.
func FromID(id string) NewExecution { return NewExecution{ExecutionID: id, ExecutionIDs: []string{id}} }

// FireTimes are times to come.
type FireTimes struct {
	FireTimes []Time `json:"fireTimes" format:"date-time"`
	// Description says the schedule in words.
	Description string `json:"description"`
}

// Version describes the binary.
type Version struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	BuildTime string `json:"buildTime"`
	GoVersion string `json:"goVersion"`
}

// Health answers the probes.
type Health struct {
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Degraded is what does not work as it should although the node is ready.
	Degraded []Degraded `json:"degraded,omitempty"`
}

// NotReady is the problem of a node that cannot do its work.
type NotReady struct {
	problem.Problem
	// Degraded is everything that does not work as it should.
	Degraded []Degraded `json:"degraded"`
}

// Setting is a setting of the node that answers. Each change of one needs a restart.
type Setting struct {
	Name string `json:"name"`
	// Variable is its name in the environment.
	Variable string `json:"variable"`
	// Value is that of this node; of a secret it is what is shown in its place.
	Value  any    `json:"value" extensions:"x-nullable"`
	Secret bool   `json:"secret"`
	Source string `json:"source" enums:"DEFAULT,FILE,ENVIRONMENT,FLAG"`
	// Takes describes the values, with bounds and unit, Meaning what it is for.
	Takes   string `json:"takes"`
	Meaning string `json:"meaning"`
}

// Settings are all settings of a node.
type Settings struct {
	NodeID string    `json:"nodeId"`
	Items  []Setting `json:"items"`
}

package vo

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// DocumentVersion is the form of documents that are read and written.
const DocumentVersion = 1

// GroupSettings is a group of a document.
type GroupSettings struct {
	Name           string `json:"name"`
	MaxConcurrency int    `json:"maxConcurrency"`
}

// FromSettings makes the entries of groups.
func FromSettings(groups []entity.Group) []GroupSettings {
	out := make([]GroupSettings, len(groups))
	for i, g := range groups {
		out[i] = GroupSettings{Name: g.Name, MaxConcurrency: g.MaxConcurrency}
	}
	return out
}

// JobEntry is a job of a document.
type JobEntry struct {
	Definition
	// Enabled is there for jobs that do not fire by themselves. These have no plan,
	// somebody paused them, or they have fired for the last time.
	Enabled *bool `json:"enabled,omitempty"`
}

// FromEntry makes the entry of a job.
func FromEntry(j *entity.Job) JobEntry {
	e := JobEntry{Definition: fromDefinition(j)}
	if !j.Enabled() {
		e.Enabled = new(bool)
	}
	return e
}

// ImportError says why an object was not changed.
type ImportError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ImportItem is what became, or would become, of one job of a document.
type ImportItem struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	// ID is empty for a job that was not created.
	ID     string                  `json:"id"`
	Action definition.ChangeAction `json:"action"`
	// Changes holds [before, after] by field, such as schedule.timeZone.
	Changes map[string][2]any `json:"changes"`
	Error   *ImportError      `json:"error" extensions:"x-nullable"`
	// Warnings say why runs of the job would wait for a node, and which secrets stand
	// in the definition; absent for none.
	Warnings []Warning `json:"warnings,omitempty"`
}

// ImportGroup is what became, or would become, of one group of a document.
type ImportGroup struct {
	Name    string                  `json:"name"`
	Action  definition.ChangeAction `json:"action"`
	Changes map[string][2]any       `json:"changes"`
	Error   *ImportError            `json:"error" extensions:"x-nullable"`
}

// Import is the answer to a document. The counts are of jobs and settings of alerting that were, or in
// a dry run would be, treated so; Failed also counts groups.
type Import struct {
	DryRun bool          `json:"dryRun"`
	Groups []ImportGroup `json:"groups"`
	// Alerting are the settings of the document, in the order in which they are applied; absent for none.
	Alerting  []ImportSetting `json:"alerting,omitempty"`
	Items     []ImportItem    `json:"items"`
	Created   int             `json:"created"`
	Updated   int             `json:"updated"`
	Unchanged int             `json:"unchanged"`
	Deleted   int             `json:"deleted"`
	Failed    int             `json:"failed"`
}

// FromPlan makes the answer to a document; explain maps errors to what callers
// may know of them.
func FromPlan(p *definition.Plan, dryRun bool, explain func(error) (code, message string)) Import {
	v := Import{DryRun: dryRun, Groups: make([]ImportGroup, len(p.Groups)), Items: make([]ImportItem, len(p.Jobs))}
	fail := func(err error) *ImportError {
		if err == nil {
			return nil
		}
		v.Failed++
		code, message := explain(err)
		return &ImportError{Code: code, Message: message}
	}
	for i, g := range p.Groups {
		v.Groups[i] = ImportGroup{Name: g.Name, Action: g.Action, Changes: map[string][2]any{}, Error: fail(g.Err)}
		if g.Action == definition.ActionUpdate {
			v.Groups[i].Changes["maxConcurrency"] = [2]any{g.Before, g.After}
		}
	}
	for _, c := range p.Settings {
		one := fromSettingChange(c, dryRun)
		one.Error = fail(c.Err)
		v.Alerting = append(v.Alerting, one)
		if c.Err == nil {
			*v.count(c.Action)++
		}
	}
	for i, c := range p.Jobs {
		job := c.Job()
		v.Items[i] = ImportItem{
			Group: job.Group, Name: job.Name, ID: job.ID, Action: c.Action, Changes: map[string][2]any{},
			Error: fail(c.Err),
		}
		if c.Action == definition.ActionUpdate {
			v.Items[i].Changes = EntryChanges(c.Before, c.After)
		}
		if c.Err == nil {
			*v.count(c.Action)++
		}
	}
	return v
}

func (v *Import) count(a definition.ChangeAction) *int {
	switch a {
	case definition.ActionCreate:
		return &v.Created
	case definition.ActionUpdate:
		return &v.Updated
	case definition.ActionDelete:
		return &v.Deleted
	}
	return &v.Unchanged
}

// EntryChanges is the fields of a job's entry that differ, with both values.
// The fields of its schedule, retry policy and routing stand for themselves.
func EntryChanges(before, after *entity.Job) map[string][2]any {
	old, now := map[string]any{}, map[string]any{}
	Flatten("", asMap(FromEntry(before)), old)
	Flatten("", asMap(FromEntry(after)), now)
	old["enabled"], now["enabled"] = before.Enabled(), after.Enabled()
	changes := map[string][2]any{}
	for name := range now {
		if !reflect.DeepEqual(old[name], now[name]) {
			changes[name] = [2]any{old[name], now[name]}
		}
	}
	return changes
}

func asMap(v any) map[string]any {
	var m map[string]any
	if text, err := json.Marshal(v); err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		_ = d.Decode(&m) // what was marshalled is JSON
	}
	return m
}

// Flatten names the fields inside of objects by their path. Labels and data
// are values: their names are the user's.
func Flatten(path string, m, into map[string]any) {
	for name, value := range m {
		inner, nested := value.(map[string]any)
		if nested && name != "labels" && name != "jobData" {
			Flatten(path+name+".", inner, into)
			continue
		}
		into[path+name] = value
	}
}

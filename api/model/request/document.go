package request

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// maxValues bounds the lines, lists and objects of a document: a value that is
// read takes many times the memory of its text.
const maxValues = 1_000_000

// DocumentBody documents what POST /import takes and GET /export gives.
type DocumentBody struct {
	// Version is that of the form of the document.
	Version int                 `json:"version" enums:"1"`
	Groups  []DocumentGroupBody `json:"groups,omitempty"`
	Jobs    []JobBody           `json:"jobs,omitempty"`
	// Workflows are jobs of type WORKFLOW, with their steps beside the other fields.
	Workflows []WorkflowBody `json:"workflows,omitempty"`
	// Alerting holds settings of alerting. They name each other, and users, by names; jobs by group/name.
	Alerting *AlertingBody `json:"alerting,omitempty"`
}

// AlertingBody documents the settings of a document. Fields are those of the bodies of each kind. Where those hold
// ids, here are names: channels, onCall, template, user, team, jobs and job in the place of channelIds, onCallId,
// templateId, userId, teamId, jobIds and jobId.
type AlertingBody struct {
	Channels  []map[string]any `json:"channels,omitempty" swaggertype:"array,object"`
	Templates []map[string]any `json:"templates,omitempty" swaggertype:"array,object"`
	Contacts  []map[string]any `json:"contacts,omitempty" swaggertype:"array,object"`
	Teams     []map[string]any `json:"teams,omitempty" swaggertype:"array,object"`
	OnCall    []map[string]any `json:"onCall,omitempty" swaggertype:"array,object"`
	Rules     []map[string]any `json:"rules,omitempty" swaggertype:"array,object"`
	Routes    []map[string]any `json:"routes,omitempty" swaggertype:"array,object"`
	Silences  []map[string]any `json:"silences,omitempty" swaggertype:"array,object"`
}

// DocumentGroupBody is a group of a document.
type DocumentGroupBody struct {
	Name           string `json:"name"`
	MaxConcurrency int    `json:"maxConcurrency,omitempty"`
}

// Document reads the body of POST /import, as YAML or JSON. It returns an error for a
// body that cannot be read. Wrong fields stand in the document, each with its path: some
// of them depend on the jobs that exist.
func (r JobReader) Document(req *http.Request) (definition.Document, error) {
	var d definition.Document
	o, err := parseDocument(req)
	if err != nil {
		return d, err
	}
	var f faults
	b := newBinder(o, &f)
	bindVersion(b)
	d.Groups = bindGroups(b)
	bindSettings(b, &d)
	now, taken, found := r.Now(), takenNames{}, 0
	for _, list := range []string{"jobs", "workflows"} {
		b.each(list, func(_ int, b *binder) bool {
			j := r.bindEntry(b, now)
			j.Wrong = merge(j.Wrong, taken.by(b, j.Job))
			d.Jobs = append(d.Jobs, j)
			found += len(j.Wrong)
			return found < maxFaults
		})
	}
	b.close()
	d.Wrong = f.list
	return d, nil
}

// takenNames are the places of the jobs of a document.
type takenNames map[repository.JobName]string

// by takes the name of a job, and says where another one has it.
func (t takenNames) by(b *binder, job *entity.Job) []apperror.Field {
	name := repository.JobName{Group: job.Group, Name: job.Name}
	if first, twice := t[name]; twice {
		return []apperror.Field{duplicate(b, first)}
	}
	t[name] = b.path
	return nil
}

func duplicate(b *binder, first string) apperror.Field {
	return apperror.Field{
		Field: join(b.path, "name"), Code: "duplicate",
		Message: fmt.Sprintf("is that of %s too; a document names each once", first),
	}
}

func bindVersion(b *binder) {
	version, read := b.integer("version", strconv.IntSize)
	switch given := b.object.fields["version"] != nil; {
	case !given:
		b.faults.add("version", "required", "must be %d, the form of the document", vo.DocumentVersion)
	case read && version != vo.DocumentVersion:
		b.faults.add("version", "unsupported", "must be %d; other forms are not known here", vo.DocumentVersion)
	}
}

func bindGroups(b *binder) []entity.Group {
	var out []entity.Group
	places := map[string]string{}
	b.each("groups", func(_ int, group *binder) bool {
		body := bind[DocumentGroupBody](group)
		g := entity.Group{Name: body.Name, MaxConcurrency: body.MaxConcurrency}
		wrong := merge(group.faults.list, within(group.path, validation.Group(g)))
		if first, twice := places[g.Name]; twice {
			wrong = merge(wrong, []apperror.Field{duplicate(group, first)})
		} else {
			places[g.Name] = group.path
		}
		b.faults.list = append(b.faults.list, wrong...)
		out = append(out, g)
		return len(b.faults.list) < maxFaults
	})
	return out
}

// parseDocument reads the body as one object.
func parseDocument(r *http.Request) (*object, error) {
	body, err := ReadBody(r)
	if err != nil {
		return nil, err
	}
	kind, err := mediaType(r.Header, "application/yaml", "application/x-yaml", "text/yaml", typeJSON)
	if err != nil {
		return nil, err
	}
	values := 0
	for _, mark := range []string{"\n", ",", "[", "{", "- ", "? "} {
		values += bytes.Count(body, []byte(mark))
	}
	if values > maxValues {
		return nil, apperror.New(apperror.KindTooLarge, "document_too_large",
			fmt.Sprintf("the document has more than %d lines and values; send it in parts", maxValues))
	}
	if kind != typeJSON {
		if body, err = yamljson.FromYAML(body); err != nil {
			return nil, malformed("invalid_yaml", "the body is not YAML as it is read here: %s", err.Error())
		}
	}
	return decode(r.Context(), body, maxValues)
}

// bindEntry reads one job of a document.
func (r JobReader) bindEntry(b *binder, now time.Time) definition.Definition {
	e := r.entry(b, now)
	d := definition.Definition{Job: e.job, Enabled: e.enabled, Path: b.path, Top: e.top}
	for _, field := range e.wrong {
		if past(field) {
			d.Past = append(d.Past, field)
		} else {
			d.Wrong = append(d.Wrong, field)
		}
	}
	return d
}

// within puts fields below a path.
func within(path string, fields []apperror.Field) []apperror.Field {
	for i := range fields {
		fields[i].Field = join(path, fields[i].Field)
	}
	return fields
}

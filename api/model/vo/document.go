package vo

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// DocumentWriter writes a document of definitions piece by piece, so that one of any
// length can be sent. Call Begin, Alerting or not, then for jobs Groups, Add as often as needed and EndJobs, and at
// last End; Take returns what was written since. It is for one goroutine.
type DocumentWriter struct {
	json bool
	any  bool
	b    bytes.Buffer
}

// NewDocumentWriter writes JSON, or else YAML.
func NewDocumentWriter(json bool) *DocumentWriter { return &DocumentWriter{json: json} }

// Extension is that of a file that holds the document.
func (w *DocumentWriter) Extension() string {
	if w.json {
		return "json"
	}
	return "yaml"
}

// ContentType is the media type of the document.
func (w *DocumentWriter) ContentType() string { return "application/" + w.Extension() }

// Begin writes what every document has.
func (w *DocumentWriter) Begin() {
	if w.json {
		fmt.Fprintf(&w.b, `{"version":%d`, DocumentVersion)
		return
	}
	fmt.Fprintf(&w.b, "version: %d\n", DocumentVersion)
}

// Alerting writes settings, whose references are names, in the order of their kinds. left names those that the
// document cannot hold, because what they name is gone; YAML says so in comments.
func (w *DocumentWriter) Alerting(settings []definition.Setting, left []string) error {
	for _, name := range left {
		if !w.json {
			fmt.Fprintf(&w.b, "# left out, because what it names is gone, or it cannot be read: %q\n", name)
		}
	}
	var lists bytes.Buffer
	for i, s := range settings {
		entry, err := SettingEntry(s.Value)
		if err != nil {
			return err
		}
		switch {
		case i > 0 && settings[i-1].Kind == s.Kind:
			lists.WriteByte(',')
		case i > 0:
			lists.WriteString("],")
			fallthrough
		default:
			fmt.Fprintf(&lists, "%q:[", SettingList(s.Kind))
		}
		lists.Write(entry)
	}
	if len(settings) > 0 {
		lists.WriteByte(']')
	}
	if w.json {
		fmt.Fprintf(&w.b, `,"alerting":{%s}`, lists.Bytes())
		return nil
	}
	return w.yaml(json.RawMessage(`{"alerting":{` + lists.String() + `}}`))
}

// Groups writes what stands before the jobs.
func (w *DocumentWriter) Groups(groups []entity.Group) error {
	text, err := json.Marshal(FromSettings(groups))
	if err != nil {
		return err
	}
	if w.json {
		fmt.Fprintf(&w.b, `,"groups":%s,"jobs":[`, text)
		return nil
	}
	if len(groups) == 0 {
		w.b.WriteString("groups: []\n")
		return nil
	}
	w.b.WriteString("groups:\n")
	return w.yaml(text)
}

// Add writes jobs. A definition that cannot be read in whole is left out, or an import would
// put less in its place; YAML says so in a comment.
func (w *DocumentWriter) Add(jobs []*entity.Job) error {
	var entries []JobEntry
	for _, j := range jobs {
		switch why := j.Unreadable(); {
		case why == "":
			entries = append(entries, FromEntry(j))
		case !w.json:
			fmt.Fprintf(&w.b, "# left out, because what the store holds of it cannot be read: job %q of group %q\n", j.Name,
				j.Group)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	first := !w.any
	w.any = true
	if w.json {
		if !first {
			w.b.WriteByte(',')
		}
		w.b.Write(text[1 : len(text)-1]) // without the brackets
		return nil
	}
	if first {
		w.b.WriteString("jobs:\n")
	}
	return w.yaml(text)
}

// yaml writes a list, which may stand below its name without being indented, or an object.
func (w *DocumentWriter) yaml(list json.RawMessage) error {
	text, err := yamljson.ToYAML(list)
	w.b.Write(text)
	return err
}

// EndJobs writes what stands after the jobs.
func (w *DocumentWriter) EndJobs() {
	switch {
	case w.json:
		w.b.WriteByte(']')
	case !w.any:
		w.b.WriteString("jobs: []\n")
	}
}

// End writes what every document ends with.
func (w *DocumentWriter) End() {
	if w.json {
		w.b.WriteString("}\n")
	}
}

// Take returns what was written since it was called before; it is good until
// the next call of any method.
func (w *DocumentWriter) Take() []byte {
	text := w.b.Bytes()
	w.b.Reset()
	return text
}

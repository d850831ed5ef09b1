package documents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
)

// defaultGroup is the group of jobs that name none.
const defaultGroup = "default"

// entry is one job, group or setting of the files, as it was written.
type entry struct {
	raw         json.RawMessage
	group, name string
	file        string
	// list is that of its document, where it is another one than that of the call; index counts its entries in the file.
	list  string
	index int
}

// definitions is what the files hold together.
type definitions struct {
	groups, jobs []entry
	settings     settings
}

// readDefinitions reads a file, a folder with all below it, or standard input, which is named "-". The
// server judges the content of a job; but each job and each group must stand in the files once.
func readDefinitions(path string, stdin io.Reader) (*definitions, error) {
	files, err := []string{"standard input"}, error(nil)
	read := func(string) ([]byte, error) { return io.ReadAll(stdin) }
	if path != "-" {
		files, err = filesBelow(path)
		read = os.ReadFile
	}
	if err != nil {
		return nil, err
	}
	all := &definitions{settings: settings{}}
	for _, file := range files {
		data, err := read(file)
		if err != nil {
			return nil, err
		}
		d, err := definitionsIn(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all.groups = append(all.groups, of(file, d.groups)...)
		all.jobs = append(all.jobs, of(file, d.jobs)...)
		for list, found := range d.settings {
			all.settings.add(list, of(file, found))
		}
	}
	twice := []error{once("job", all.jobs), once("group", all.groups)}
	for _, list := range settingLists() {
		twice = append(twice, once("entry of alerting."+list, all.settings[list]))
	}
	if err := errors.Join(twice...); err != nil {
		return nil, err
	}
	return all, all.readSecrets()
}

// of notes where entries stand.
func of(file string, entries []entry) []entry {
	count := map[string]int{}
	for i := range entries {
		entries[i].file, entries[i].index = file, count[entries[i].list]
		count[entries[i].list]++
	}
	return entries
}

// filesBelow lists the files of definitions, in the order of their names.
func filesBelow(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			files = append(files, file)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there are no *.yaml, *.yml or *.json files in %s", path)
	}
	return files, err
}

// once refuses what the files define twice.
func once(what string, entries []entry) error {
	first := map[[2]string]entry{}
	for _, e := range entries {
		key := [2]string{e.group, e.name}
		if before, twice := first[key]; twice && e.name != "" {
			return fmt.Errorf("%s: defines the %s %s twice; it is in %s too", e.file, what,
				strings.TrimPrefix(e.group+"/"+e.name, "/"), before.file)
		}
		first[key] = e
	}
	return nil
}

var errShape = errors.New("must hold a job (an object with a name), an array of jobs, or a document {version, " +
	"groups, jobs, workflows, alerting}")

// definitionsIn reads the documents of a file: those of the server, jobs, and lists of jobs. JSON is YAML too.
func definitionsIn(data []byte) (d definitions, err error) {
	d.settings = settings{}
	documents, err := yamljson.AllFromYAML(data)
	for _, text := range documents {
		if err == nil && string(text) != "null" { // an empty document, such as after a last ---
			err = d.add(text)
		}
	}
	return d, err
}

func (d *definitions) add(text json.RawMessage) error {
	var one struct {
		Version int               `json:"version"`
		Groups  []json.RawMessage `json:"groups"`
		Jobs    []json.RawMessage `json:"jobs"`
		// Workflows are jobs as well: a document of the server may hold them in either list.
		Workflows []json.RawMessage `json:"workflows"`
		// Alerting holds lists by the names of kinds.
		Alerting json.RawMessage `json:"alerting"`
	}
	var fields map[string]json.RawMessage
	switch {
	case text[0] == '[':
		if json.Unmarshal(text, &one.Jobs) != nil {
			return errShape
		}
	case json.Unmarshal(text, &fields) != nil:
		return errShape
	case fields["name"] != nil:
		one.Jobs = []json.RawMessage{text}
	default:
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&one); err != nil {
			return fmt.Errorf("%w: %s", errShape, strings.TrimPrefix(err.Error(), "json: "))
		}
		if one.Version != vo.DocumentVersion {
			return fmt.Errorf("version must be %d", vo.DocumentVersion)
		}
	}
	if err := d.addSettings(one.Alerting); err != nil {
		return err
	}
	groups, err := entries(one.Groups)
	for _, g := range groups {
		d.groups = append(d.groups, entry{raw: g.raw, name: g.name})
	}
	if err != nil {
		return err
	}
	jobs, err := entries(one.Jobs)
	if err != nil {
		return err
	}
	flows, err := entries(one.Workflows)
	for i := range flows {
		flows[i].list = "workflows"
	}
	d.jobs = append(append(d.jobs, jobs...), flows...)
	return err
}

// entries reads what must be known here of groups, or of jobs.
func entries(texts []json.RawMessage) (all []entry, err error) {
	for _, text := range texts {
		var fields map[string]any
		if json.Unmarshal(text, &fields) != nil || fields == nil {
			return nil, errShape
		}
		group, _ := fields["group"].(string)
		name, _ := fields["name"].(string)
		all = append(all, entry{raw: text, group: cmp.Or(group, defaultGroup), name: name})
	}
	return all, nil
}

// chunk is as much of the files as goes into one call.
type chunk struct {
	groups, jobs []entry
	settings     settings
}

// maxChunk is how many jobs go into one call, unless a group is larger and must stay whole.
const maxChunk = 200

// chunks cuts what the files hold. Where other jobs of a group are deleted, a
// call must hold all of those that stay: groups stay whole.
func (d *definitions) chunks(wholeGroups bool) []chunk {
	if len(d.settings) > 0 {
		return d.withSettings(wholeGroups)
	}
	jobs := slices.Clone(d.jobs)
	if wholeGroups {
		slices.SortStableFunc(jobs, func(a, b entry) int { return cmp.Compare(a.group, b.group) })
	}
	out := []chunk{{groups: d.groups}}
	if wholeGroups {
		// Groups without jobs are in the first call; the others go with theirs.
		used := map[string]bool{}
		for _, j := range jobs {
			used[j.group] = true
		}
		out[0].groups = slices.DeleteFunc(slices.Clone(d.groups), func(g entry) bool { return used[g.name] })
	}
	for i, j := range jobs {
		last := &out[len(out)-1]
		begins := i == 0 || jobs[i-1].group != j.group
		if len(last.jobs) >= maxChunk && (begins || !wholeGroups) {
			out = append(out, chunk{})
			last = &out[len(out)-1]
		}
		last.jobs = append(last.jobs, j)
		if wholeGroups && begins {
			for _, g := range d.groups {
				if g.name == j.group {
					last.groups = append(last.groups, g)
				}
			}
		}
	}
	return out
}

// body is what a call sends.
func (c chunk) body() any {
	raw := func(entries []entry) []json.RawMessage {
		out := make([]json.RawMessage, len(entries))
		for i, e := range entries {
			out[i] = e.raw
		}
		return out
	}
	body := map[string]any{"version": vo.DocumentVersion, "groups": raw(c.groups), "jobs": raw(c.jobs)}
	if len(c.settings) > 0 {
		alerting := map[string]any{}
		for list, found := range c.settings {
			alerting[list] = raw(found)
		}
		body["alerting"] = alerting
	}
	return body
}

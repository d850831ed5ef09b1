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

// source is where in the files an entry stands.
type source struct {
	file string
	// index counts the jobs, or the groups, of the file.
	index int
}

// entry is one job, or one group, of the files, as it was written.
type entry struct {
	raw         json.RawMessage
	group, name string
	at          source
}

// definitions is what the files hold together.
type definitions struct{ groups, jobs []entry }

// readDefinitions reads a file, a folder with all below it, or standard input,
// which is named "-". What a job says is left to the server to judge; but each
// job and each group must stand in the files once.
func readDefinitions(path string, stdin io.Reader) (*definitions, error) {
	d := &definitions{}
	files, err := []string{"standard input"}, error(nil)
	read := func(string) ([]byte, error) { return io.ReadAll(stdin) }
	if path != "-" {
		files, err = filesBelow(path)
		read = os.ReadFile
	}
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := read(file)
		if err != nil {
			return nil, err
		}
		if err := d.add(file, data); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return d, errors.Join(once("job", d.jobs), once("group", d.groups))
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
	seen := map[[2]string]source{}
	for _, e := range entries {
		key := [2]string{e.group, e.name}
		if first, twice := seen[key]; twice && e.name != "" {
			return fmt.Errorf("%s: defines the %s %s twice; it is in %s too", e.at.file, what,
				strings.TrimPrefix(e.group+"/"+e.name, "/"), first.file)
		}
		seen[key] = e.at
	}
	return nil
}

// add takes the documents of a file: documents of the server, jobs, and lists
// of jobs. JSON is YAML too.
func (d *definitions) add(file string, data []byte) error {
	documents, err := yamljson.AllFromYAML(data)
	if err != nil {
		return err
	}
	in := reading{definitions: d, file: file}
	for _, text := range documents {
		switch {
		case text[0] == '[':
			err = in.list(text)
		case bytes.Equal(text, []byte("null")):
			continue // an empty document, such as after a last ---
		default:
			err = in.document(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reading counts the entries of one file.
type reading struct {
	*definitions
	file         string
	groups, jobs int
}

var errShape = errors.New("must hold a job (an object with a name), an array of jobs, or a document {version, " +
	"groups, jobs}")

func (in *reading) list(text json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return errShape
	}
	for _, item := range items {
		if err := in.job(item); err != nil {
			return err
		}
	}
	return nil
}

func (in *reading) document(text json.RawMessage) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return errShape
	}
	if _, isJob := fields["name"]; isJob {
		return in.job(text)
	}
	var d struct {
		Version int               `json:"version"`
		Groups  []json.RawMessage `json:"groups"`
		Jobs    []json.RawMessage `json:"jobs"`
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&d); err != nil {
		return fmt.Errorf("%w: %s", errShape, strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.Version != vo.DocumentVersion {
		return fmt.Errorf("version must be %d", vo.DocumentVersion)
	}
	for _, g := range d.Groups {
		if err := in.group(g); err != nil {
			return err
		}
	}
	for _, j := range d.Jobs {
		if err := in.job(j); err != nil {
			return err
		}
	}
	return nil
}

// named is what must be known of an entry here.
func named(text json.RawMessage) (group, name string, err error) {
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return "", "", errShape
	}
	group, _ = fields["group"].(string)
	name, _ = fields["name"].(string)
	return cmp.Or(group, defaultGroup), name, nil
}

func (in *reading) job(text json.RawMessage) error {
	group, name, err := named(text)
	in.definitions.jobs = append(in.definitions.jobs, entry{text, group, name, source{in.file, in.jobs}})
	in.jobs++
	return err
}

func (in *reading) group(text json.RawMessage) error {
	_, name, err := named(text)
	in.definitions.groups = append(in.definitions.groups, entry{text, "", name, source{in.file, in.groups}})
	in.groups++
	return err
}

// chunk is as much of the files as goes into one call.
type chunk struct{ groups, jobs []entry }

// maxChunk is how many jobs go into one call, unless a group is larger and must
// stay whole.
const maxChunk = 200

// chunks cuts what the files hold. Where other jobs of a group are deleted, a
// call must hold all of those that stay: groups stay whole.
func (d *definitions) chunks(wholeGroups bool) []chunk {
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
	return map[string]any{"version": vo.DocumentVersion, "groups": raw(c.groups), "jobs": raw(c.jobs)}
}

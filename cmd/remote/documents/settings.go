package documents

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
)

// settings are the settings of alerting of the files, by the name of their list.
type settings map[string][]entry

// add adds entries to a list. A list without entries is there, too: prune goes by it.
func (s settings) add(list string, found []entry) {
	s[list] = append(s[list], found...)
}

// addSettings adds those of one document.
func (d *definitions) addSettings(text json.RawMessage) error {
	lists := map[string][]json.RawMessage{}
	if len(text) > 0 && json.Unmarshal(text, &lists) != nil {
		return errors.New("alerting must be an object of lists: " + strings.Join(settingLists(), ", "))
	}
	for list, texts := range lists {
		if !slices.Contains(settingLists(), list) {
			return fmt.Errorf("alerting has no %q; its lists are %s", list, strings.Join(settingLists(), ", "))
		}
		found, err := entries(texts)
		if err != nil {
			return errors.New("alerting." + list + " must be a list of objects")
		}
		for i := range found {
			found[i].group = "" // names of settings are unique over all groups
		}
		d.settings.add(list, found)
	}
	return nil
}

func settingLists() (out []string) {
	for _, kind := range definition.SettingKinds() {
		out = append(out, vo.SettingList(kind))
	}
	return out
}

// readSecrets puts the secrets of channels in their places: {env: NAME} is an environment variable, {file: PATH} the
// content of a file without the line break at its end.
func (d *definitions) readSecrets() error {
	var all []error
	for i, e := range d.settings["channels"] {
		var channel map[string]any
		if json.Unmarshal(e.raw, &channel) != nil || channel["config"] == nil {
			continue
		}
		at := fmt.Sprintf("%s: alerting.channels[%d] (%s): config", e.file, e.index, e.name)
		config, err := secretIn(channel["config"], at)
		if err != nil {
			all = append(all, err)
			continue
		}
		channel["config"] = config
		if d.settings["channels"][i].raw, err = json.Marshal(channel); err != nil {
			return err
		}
	}
	return errors.Join(all...)
}

// secretIn is a value with the secrets that it refers to.
func secretIn(value any, at string) (any, error) {
	if list, is := value.([]any); is {
		var all []error
		for i, inner := range list {
			read, err := secretIn(inner, fmt.Sprintf("%s[%d]", at, i))
			all, list[i] = append(all, err), read
		}
		return list, errors.Join(all...)
	}
	object, is := value.(map[string]any)
	if !is {
		return value, nil
	}
	variable, isVariable := object["env"].(string)
	file, isFile := object["file"].(string)
	switch {
	case len(object) == 1 && isVariable:
		secret, set := os.LookupEnv(variable)
		if !set || secret == "" {
			return nil, fmt.Errorf("%s: the environment variable %s is not set, or empty", at, variable)
		}
		return secret, nil
	case len(object) == 1 && isFile:
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		secret := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
		if secret == "" {
			return nil, fmt.Errorf("%s: the file %s is empty", at, file)
		}
		return secret, nil
	}
	var all []error
	for name, inner := range object {
		read, err := secretIn(inner, at+"."+name)
		if err != nil {
			all = append(all, err)
		}
		object[name] = read
	}
	return object, errors.Join(all...)
}

// namedJobs are the jobs that rules name, as group/name.
func (s settings) namedJobs() map[string]bool {
	out := map[string]bool{}
	for _, e := range s["rules"] {
		var rule struct {
			Scope   struct{ Jobs []string }
			Actions []struct{ Job string }
		}
		if json.Unmarshal(e.raw, &rule) != nil {
			continue // the server says what is wrong
		}
		for _, name := range rule.Scope.Jobs {
			out[name] = true
		}
		for _, action := range rule.Actions {
			out[action.Job] = true
		}
	}
	return out
}

// withSettings adds the settings to the calls. They go with the last one, whole: settings name each other. The jobs
// that rules name go with them, and where other jobs of a group are deleted the whole group.
func (d *definitions) withSettings(wholeGroups bool) []chunk {
	if len(d.jobs) <= maxChunk {
		return []chunk{{d.groups, d.jobs, d.settings}}
	}
	named, groups := d.settings.namedJobs(), map[string]bool{}
	for _, j := range d.jobs {
		if named[j.group+"/"+j.name] {
			groups[j.group] = wholeGroups
		}
	}
	rest, last := &definitions{}, chunk{settings: d.settings}
	for _, j := range d.jobs {
		if groups[j.group] || named[j.group+"/"+j.name] {
			last.jobs = append(last.jobs, j)
		} else {
			rest.jobs = append(rest.jobs, j)
		}
	}
	for _, g := range d.groups {
		if groups[g.name] {
			last.groups = append(last.groups, g)
		} else {
			rest.groups = append(rest.groups, g)
		}
	}
	return append(rest.chunks(wholeGroups), last)
}

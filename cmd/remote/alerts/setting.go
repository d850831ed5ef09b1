package alerts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/answer"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// file is the flag that names the file of a definition.
var file = remote.Flag{Name: "file", Short: "f", Help: "read it from `FILE`; - is standard input"}

// verbs are the commands that all kinds have.
func (k kind) verbs() []remote.Verb {
	one, from := k.path+"/{id}", []remote.Flag{file}
	if k.sealed {
		from = []remote.Flag{secretFile, file}
	}
	return []remote.Verb{
		{
			Use: "list", Short: "List the " + k.noun + "s", Example: k.word + " list -o json",
			Path: k.path, Paged: true, Columns: "name, group, state, " + k.columns + ", id",
		},
		k.onOne("get", remote.Verb{
			Short: "Show a " + k.noun, Aliases: []string{"show"}, Path: one, Show: asYAML,
		}),
		k.create(from),
		k.onOne("edit", remote.Verb{
			Short:   "Replace a " + k.noun + ", or switch it on or off",
			Example: k.word + " edit billing -f " + k.word + ".yaml\n" + k.word + " edit billing --disable",
			Own: append([]remote.Flag{
				{Name: "enable", Default: false, Help: "switch it on"},
				{Name: "disable", Default: false, Help: "switch it off"},
			}, from...),
			Method: "PUT", Path: one, Body: edited, Done: k.stored("changed"),
		}),
		k.onOne("delete", remote.Verb{
			Short: "Delete a " + k.noun, Ask: "Delete the " + k.noun + " {found}?",
			Method: "DELETE", Path: one, Done: "deleted the " + k.noun + " {found}",
		}),
	}
}

// words are what a definition of the kind is in words.
func (k kind) words() remote.Words {
	words := maps.Clone(settingWords)
	words["called"] = func(_ *remote.Call, o remote.Object) string {
		return strings.TrimPrefix(o.Text("name"), k.noun+" ") // a silence that nobody named is called so
	}
	return words
}

// onOne completes a command for one definition, by its name or its id.
func (k kind) onOne(verb string, v remote.Verb) remote.Verb {
	v.Use, v.Example = verb+" "+strings.ToUpper(k.word), cmp.Or(v.Example, k.word+" "+verb+" billing")
	v.Find = func(c *remote.Call) (err error) {
		c.Found, err = find(c, k, c.Args[0])
		c.ID, c.Title = c.Found.Text("id"), c.Found.Text("name")
		return err
	}
	return v
}

// asYAML shows people an answer as YAML.
func asYAML(c *remote.Call, _ remote.Object) { c.YAML(c.Answer) }

// stored says that a definition was created or changed.
func (k kind) stored(how string) string {
	return how + " the " + k.noun + " {called} ({id}), version {version}"
}

func (k kind) create(from []remote.Flag) remote.Verb {
	if k.word == silenceKind.word {
		return silenceCreate
	}
	v := remote.Verb{
		Use: "create", Short: "Make a " + k.noun + " from a file",
		Long: "Make a " + k.noun + " from a YAML or JSON file, with the fields of the API. Channels,\nteams and jobs " +
			"may be named by their names.",
		Example: k.word + " create -f " + k.word + ".yaml", Own: from,
		Method: "POST", Path: k.path, Done: k.stored("created"),
		Body: func(c *remote.Call, _ map[string]any) (any, error) {
			body, err := readFile(c)
			if err == nil {
				err = addSecrets(c, body)
			}
			return body, err
		},
	}
	if k.sealed {
		v.Example += " --secret-file password=password.txt"
	}
	return v
}

// edited is what a definition becomes.
func edited(c *remote.Call, _ map[string]any) (_ any, err error) {
	body, on, off := c.Found, c.On("enable"), c.On("disable")
	if on && off || !on && !off && c.Given(file.Name) == "" && len(c.Listed(secretFile.Name)) == 0 {
		return nil, usage.Errorf("say what to change: -f FILE, --enable or --disable")
	}
	version := body["version"]
	if c.Given(file.Name) != "" {
		if body, err = readFile(c); err != nil {
			return nil, err
		}
	}
	if err := addSecrets(c, body); err != nil {
		return nil, err
	}
	if on || off {
		body["enabled"] = on
	}
	if _, named := body["version"]; !named {
		body["version"] = version
	}
	return body, nil
}

// idOf makes the id of a definition of its name.
func idOf(k kind) func(c *remote.Call, in remote.Input) (any, error) {
	return func(c *remote.Call, in remote.Input) (any, error) {
		found, err := find(c, k, in.Text)
		return found.Text("id"), err
	}
}

// find finds a definition by its name or its id.
func find(c *remote.Call, k kind, name string) (remote.Object, error) {
	o, err := c.Named(k.path, "name", name)
	if err == nil && o == nil {
		err = fmt.Errorf("there is no %s named %q; platform-scheduler %s list shows those that you may see", k.noun,
			name, k.word)
	}
	return o, err
}

// readFile reads a definition from a file, and puts ids in the place of names.
func readFile(c *remote.Call) (remote.Object, error) {
	name := c.Given(file.Name)
	if name == "" {
		return nil, usage.Errorf("name the file with -f FILE; - is standard input")
	}
	text, err := remote.ReadFile(name)
	if err != nil {
		return nil, err
	}
	raw, err := yamljson.FromYAML(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	fields, err := answer.Decode(raw)
	if err != nil || fields == nil {
		return nil, fmt.Errorf("%s: it must be an object with fields: %w", name, err)
	}
	_, err = ids(c, "", map[string]any(fields))
	return fields, err
}

// named are the kinds that definitions name, by the field.
var named = map[string]kind{
	"channelIds": channelKind, "escalateTo": channelKind, "teamId": teamKind, "onCallId": onCallKind,
	"templateId": templateKind,
}

// ids puts ids in the place of names, in what a field holds and inside of it.
func ids(c *remote.Call, field string, held any) (_ any, err error) {
	switch held := held.(type) {
	case string:
		return id(c, field, held)
	case []any:
		for i, item := range held {
			if held[i], err = ids(c, field, item); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if slices.Contains([]string{"params", "config", "labels", "match"}, field) {
			break // its names are the user's
		}
		for name, inner := range held {
			if held[name], err = ids(c, name, inner); err != nil {
				return nil, err
			}
		}
	}
	return held, nil
}

// id is the id of what a field names; what is an id, or no name, stays as it is.
func id(c *remote.Call, field, text string) (string, error) {
	if text == "" || remote.IsID(text) {
		return text, nil
	}
	if k, is := named[field]; is {
		found, err := find(c, k, text)
		return found.Text("id"), err
	}
	if field == "jobId" || field == "jobIds" {
		job, err := c.FindJob(text, "")
		return job.ID, err
	}
	return text, nil
}

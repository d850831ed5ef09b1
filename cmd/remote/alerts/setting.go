package alerts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// kind is one kind of what people define for alerting.
type kind struct {
	// word is that of the commands; path is that of the API.
	word, path, noun string
	columns          []remote.Column[setting]
	// sealed: it has secrets, which files hold.
	sealed bool
}

// setting is what the commands show of a definition of any kind.
type setting struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Group   *string `json:"group"`
	Enabled bool    `json:"enabled"`
	Version int     `json:"version"`

	Type       string            `json:"type"`
	Level      string            `json:"level"`
	Position   int               `json:"position"`
	Match      map[string]string `json:"match"`
	ChannelIDs []string          `json:"channelIds"`
	Members    []string          `json:"members"`
	UserID     string            `json:"userId"`
	Email      string            `json:"email"`
	Phone      string            `json:"phone"`
	ChatID     string            `json:"chatId"`
	TimeZone   string            `json:"timeZone"`
	Shifts     []json.RawMessage `json:"shifts"`
	From       *string           `json:"from"`
	To         *string           `json:"to"`
	By         string            `json:"by"`
	Active     bool              `json:"active"`
	Comment    string            `json:"comment"`

	Language string            `json:"language"`
	Secrets  []string          `json:"secrets"`
	Title    map[string]string `json:"title"`
	Text     map[string]string `json:"text"`
	HTML     map[string]string `json:"html"`
	Markdown map[string]string `json:"markdown"`
}

// languages are those in which a template says something.
func (v setting) languages() string {
	all := map[string]bool{}
	for _, texts := range []map[string]string{v.Title, v.Text, v.HTML, v.Markdown} {
		for language := range texts {
			all[language] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ",")
}

func (v setting) group() string {
	if v.Group == nil {
		return "all groups"
	}
	return *v.Group
}

func (v setting) state() string {
	if v.Enabled {
		return "on"
	}
	return "off"
}

// labelText are labels as people write them.
func labelText(labels map[string]string) string {
	parts := make([]string, 0, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name+"="+labels[name])
	}
	return strings.Join(parts, ",")
}

func column(name string, of func(v setting) string) remote.Column[setting] {
	return remote.Column[setting]{Name: name, Of: of}
}

// command makes the commands of a kind.
func (k kind) command(s *remote.Session, short, example string) *cobra.Command {
	c := usage.Parent(&cobra.Command{Use: k.word, Short: short, Example: example})
	c.AddCommand(k.list(s), k.show(s), k.create(s), k.edit(s), k.remove(s))
	return c
}

func (k kind) list(s *remote.Session) *cobra.Command {
	var pages remote.Pages
	c := &cobra.Command{
		Use: "list", Short: "List the " + k.noun + "s", Example: "  platform-scheduler " + k.word + " list -o json",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			columns := append([]remote.Column[setting]{
				column("name", func(v setting) string { return v.Name }), column("group", setting.group),
				column("state", setting.state),
			}, k.columns...)
			return remote.List(s, c, k.path, nil, pages, append(columns, column("id", func(v setting) string {
				return v.ID
			}))...)
		},
	}
	pages.Flags(c, 0)
	return c
}

// onOne is a command for one definition, by its name or its id.
func (k kind) onOne(s *remote.Session, verb, short string,
	do func(c *cobra.Command, api *client.Client, found object) error,
) *cobra.Command {
	return &cobra.Command{
		Use: verb + " " + strings.ToUpper(k.word), Short: short, Args: usage.Args(cobra.ExactArgs(1)),
		Example: "  platform-scheduler " + k.word + " " + verb + " billing",
		RunE: func(c *cobra.Command, args []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			found, err := find(c, api, k, args[0])
			if err != nil {
				return err
			}
			return do(c, api, found)
		},
	}
}

func (k kind) show(s *remote.Session) *cobra.Command {
	c := k.onOne(s, "get", "Show a "+k.noun, func(c *cobra.Command, api *client.Client, found object) error {
		return remote.SendBy(s, c, api, "GET", k.path+"/"+remote.Segment(found.ID), nil, nil,
			func(raw json.RawMessage) error { return asYAML(s, raw) })
	})
	c.Aliases = []string{"show"}
	return c
}

// asYAML prints an answer as YAML.
func asYAML(s *remote.Session, raw json.RawMessage) error {
	text, err := yamljson.ToYAML(raw)
	if err == nil {
		_, err = s.Out.Write(text)
	}
	return err
}

func (k kind) create(s *remote.Session) *cobra.Command {
	var file string
	var secrets secretFiles
	c := &cobra.Command{
		Use: "create", Short: "Make a " + k.noun + " from a file", Args: usage.Args(cobra.NoArgs),
		Long: "Make a " + k.noun + " from a YAML or JSON file, with the fields of the API. Channels,\nteams and jobs " +
			"may be named by their names.",
		Example: "  platform-scheduler " + k.word + " create -f " + k.word + ".yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			body, err := readFile(s, c, api, file)
			if err == nil {
				err = secrets.into(body, file)
			}
			if err != nil {
				return err
			}
			return k.send(s, c, api, "POST", k.path, body, "created")
		},
	}
	fileFlag(c, &file)
	if k.sealed {
		secrets.flag(c)
		c.Example += " --secret-file password=password.txt"
	}
	return c
}

// send stores a definition.
func (k kind) send(s *remote.Session, c *cobra.Command, api *client.Client, method, path string, body any,
	done string,
) error {
	return remote.SendBy(s, c, api, method, path, nil, body, func(v setting) error {
		return s.Line("%s the %s %s (%s), version %d", done, k.noun, v.Name, v.ID, v.Version)
	})
}

func fileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "file", "f", "", "read it from `FILE`; - is standard input")
}

func (k kind) edit(s *remote.Session) *cobra.Command {
	var file string
	var on, off bool
	var secrets secretFiles
	c := k.onOne(s, "edit", "Replace a "+k.noun+", or switch it on or off",
		func(c *cobra.Command, api *client.Client, found object) error {
			if on == off && file == "" && len(secrets) == 0 || on && off {
				return usage.Errorf("say what to change: -f FILE, --enable or --disable")
			}
			body := found.fields
			if file != "" {
				var err error
				if body, err = readFile(s, c, api, file); err != nil {
					return err
				}
			}
			if err := secrets.into(body, file); err != nil {
				return err
			}
			if on || off {
				body["enabled"] = on
			}
			if _, named := body["version"]; !named {
				body["version"] = found.Version
			}
			return k.send(s, c, api, "PUT", k.path+"/"+remote.Segment(found.ID), body, "changed")
		})
	c.Example = "  platform-scheduler " + k.word + " edit billing -f " + k.word + ".yaml\n  platform-scheduler " + k.word +
		" edit billing --disable"
	fileFlag(c, &file)
	if k.sealed {
		secrets.flag(c)
	}
	c.Flags().BoolVar(&on, "enable", false, "switch it on")
	c.Flags().BoolVar(&off, "disable", false, "switch it off")
	return c
}

func (k kind) remove(s *remote.Session) *cobra.Command {
	var q terminal.Question
	c := k.onOne(s, "delete", "Delete a "+k.noun, func(c *cobra.Command, api *client.Client, found object) error {
		if err := q.Ask(s.Err, "Delete the %s %s?", k.noun, found.Name); err != nil {
			return err
		}
		return remote.SendBy(s, c, api, "DELETE", k.path+"/"+remote.Segment(found.ID), nil, nil,
			func(json.RawMessage) error { return s.Line("deleted the %s %s", k.noun, found.Name) })
	})
	q.Flag(c)
	return c
}

// object is a definition as it was answered.
type object struct {
	setting
	fields map[string]any
}

// find finds a definition by its name or its id.
func find(c *cobra.Command, api *client.Client, k kind, name string) (found object, err error) {
	_, items, err := api.Pages(c.Context(), k.path, nil, 0)
	if err != nil {
		return found, err
	}
	for _, item := range items {
		var v setting
		if err := json.Unmarshal(item, &v); err != nil {
			return found, fmt.Errorf("a %s is not understood: %w", k.noun, err)
		}
		if v.Name == name || v.ID == name {
			found = object{setting: v}
			found.fields, err = fieldsOf(item)
			return found, err
		}
	}
	return found, fmt.Errorf("there is no %s named %q; platform-scheduler %s list shows those that you may see", k.noun,
		name, k.word)
}

// fieldsOf are the fields of an object, with numbers as they stand there.
func fieldsOf(raw json.RawMessage) (fields map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil || fields == nil {
		return nil, fmt.Errorf("it must be an object with fields: %w", err)
	}
	return fields, nil
}

// readFile reads a definition from a file, and puts ids in the place of names.
func readFile(s *remote.Session, c *cobra.Command, api *client.Client, file string) (map[string]any, error) {
	var text []byte
	var err error
	switch file {
	case "":
		return nil, usage.Errorf("name the file with -f FILE; - is standard input")
	case "-":
		text, err = io.ReadAll(os.Stdin)
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	raw, err := yamljson.FromYAML(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	fields, err := fieldsOf(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return fields, resolver{s, c, api}.all(fields)
}

// resolver puts ids in the place of names.
type resolver struct {
	s   *remote.Session
	c   *cobra.Command
	api *client.Client
}

// named are the kinds that definitions name, by the field.
var named = map[string]kind{
	"channelIds": channelKind, "escalateTo": channelKind, "teamId": teamKind, "onCallId": onCallKind,
	"templateId": templateKind,
}

// all goes through the fields of an object, and of those inside of it.
func (r resolver) all(fields map[string]any) (err error) {
	for name, v := range fields {
		one := func(text string) (string, error) { return r.id(name, text) }
		switch v := v.(type) {
		case string:
			if fields[name], err = one(v); err != nil {
				return err
			}
		case map[string]any:
			if name != "params" && name != "config" && name != "labels" && name != "match" {
				err = r.all(v)
			}
		case []any:
			for i, item := range v {
				switch item := item.(type) {
				case string:
					v[i], err = one(item)
				case map[string]any:
					err = r.all(item)
				}
				if err != nil {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// id is the id of what a field names; what is an id, or no name, stays as it is.
func (r resolver) id(field, text string) (string, error) {
	if text == "" || remote.IsID(text) {
		return text, nil
	}
	if k, is := named[field]; is {
		found, err := find(r.c, r.api, k, text)
		return found.ID, err
	}
	if field == "jobId" || field == "jobIds" {
		job, err := r.s.FindJob(r.c, r.api, text, "")
		return job.ID, err
	}
	return text, nil
}

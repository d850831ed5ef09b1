package access

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// secret is what the commands show of a secret; its value is never shown.
type secret struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Groups is nil for every group.
	Groups     []string `json:"groups"`
	Version    int      `json:"version"`
	UpdateTime *string  `json:"updateTime"`
}

// groups says whose jobs may use a secret.
func (v secret) groups() string {
	if v.Groups == nil {
		return "all groups"
	}
	return strings.Join(v.Groups, ", ")
}

func secretCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "secret", Short: "Manage the secrets that jobs name as ${secret.NAME}",
		Long:    "Manage the secrets that jobs name as ${secret.NAME}. A value is written and never\nread back.",
		Example: "  platform-scheduler secret list\n  platform-scheduler secret set billing-token --value-file token.txt",
	})
	var pages remote.Pages
	list := &cobra.Command{
		Use: "list", Short: "List the secrets, without their values", Example: "  platform-scheduler secret list -o json",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.List(s, c, "/secrets", nil, pages,
				remote.Column[secret]{Name: "name", Of: func(v secret) string { return v.Name }},
				remote.Column[secret]{Name: "groups", Of: secret.groups},
				remote.Column[secret]{Name: "version", Of: func(v secret) string { return fmt.Sprint(v.Version) }},
				remote.Column[secret]{Name: "changed", Of: func(v secret) string { return s.Moment(v.UpdateTime) }},
				remote.Column[secret]{Name: "description", Of: func(v secret) string { return v.Description }},
			)
		},
	}
	pages.Flags(list, 0)
	c.AddCommand(list, secretSet(s), secretUses(s), secretDelete(s))
	return c
}

// secretFlags are the flags of secret set.
type secretFlags struct {
	valueFile, description string
	groups                 []string
	keepValue, force       bool
}

func secretSet(s *remote.Session) *cobra.Command {
	var f secretFlags
	c := &cobra.Command{
		Use: "set NAME", Short: "Create a secret, or change its value or its groups", Args: usage.Args(cobra.ExactArgs(1)),
		Long: `Make a secret, or give the one of that name another value. The value is read
from a file, from standard input (-), or asked for without being shown. The end
of its last line is not part of it. What is not given stays.

Jobs of its groups may use it; without --group a new secret is for every group,
which only admins may say. --keep-value changes its groups and its description
alone. Jobs that name it keep it unless --force takes it from them.`,
		Example: "  platform-scheduler secret set billing-token\n  platform-scheduler secret set billing-token " +
			"--value-file token.txt\n  vault read -field=value secret/billing | platform-scheduler secret set billing-token " +
			"--value-file -",
		ValidArgsFunction: s.CompleteSecrets,
		RunE:              func(c *cobra.Command, args []string) error { return f.set(s, c, args[0]) },
	}
	c.Flags().StringVar(&f.valueFile, "value-file", "", "read the value from `FILE`; - is standard input")
	c.Flags().StringVar(&f.description, "description", "", "what it is for")
	c.Flags().StringArrayVar(&f.groups, "group", nil, "whose jobs may use it; may be repeated, \"all\" for every group")
	c.Flags().BoolVar(&f.keepValue, "keep-value", false, "keep the value")
	c.Flags().BoolVar(&f.force, "force", false, "take it from groups even if their jobs name it")
	return c
}

func (f secretFlags) set(s *remote.Session, c *cobra.Command, name string) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	body := map[string]any{}
	if !f.keepValue {
		if body["value"], err = f.value(s, name); err != nil {
			return err
		}
	}
	known, exists, err := findSecret(c, api, name)
	if err != nil {
		return err
	}
	body["description"] = known.Description
	if len(f.groups) > 0 {
		body["groups"] = f.groups
	}
	if len(f.groups) == 1 && f.groups[0] == "all" {
		body["groups"] = []string{}
	}
	if c.Flags().Changed("description") {
		body["description"] = f.description
	}
	method, path, done := "POST", "/secrets", "made"
	if exists {
		method, path, done = "PUT", "/secrets/"+remote.Segment(name), "changed"
		body["version"] = known.Version
		if f.force {
			body["force"] = true
		}
	} else {
		body["name"] = name
	}
	return remote.SendBy(s, c, api, method, path, nil, body, func(v secret) error {
		return s.Line("%s the secret %s, version %d", done, v.Name, v.Version)
	})
}

// value reads the value of a secret.
func (f secretFlags) value(s *remote.Session, name string) (string, error) {
	switch f.valueFile {
	case "":
		return terminal.Unseen(s.Err, "value of "+name, "--value-file, where - is standard input")
	case "-":
		text, err := io.ReadAll(os.Stdin)
		return strings.TrimRight(string(text), "\r\n"), err
	}
	return remote.Secret(f.valueFile)
}

// findSecret finds a secret by its name.
func findSecret(c *cobra.Command, api *client.Client, name string) (found secret, exists bool, err error) {
	secrets, err := client.List[secret](c.Context(), api, "/secrets", nil, 0)
	for _, one := range secrets {
		if one.Name == name {
			return one, true, nil
		}
	}
	return secret{}, false, err
}

func secretUses(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "uses NAME", Short: "List the jobs that name a secret",
		Example: "  platform-scheduler secret uses billing-token",
		Args:    usage.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			type use struct{ ID, Name, Group string }
			type uses struct {
				Items []use
				More  bool
			}
			path := "/secrets/" + url.PathEscape(args[0]) + "/uses"
			return remote.SendBy(s, c, api, "GET", path, nil, nil, func(found uses) error {
				for _, u := range found.Items {
					if err := s.Line("%s/%s (%s)", u.Group, u.Name, u.ID); err != nil {
						return err
					}
				}
				if found.More {
					return s.Line("and more")
				}
				return s.Line("%d jobs", len(found.Items))
			})
		},
	}
}

func secretDelete(s *remote.Session) *cobra.Command {
	var q terminal.Question
	c := &cobra.Command{
		Use: "delete NAME", Short: "Delete a secret; runs that name it fail from then on",
		Args:    usage.Args(cobra.ExactArgs(1)),
		Example: "  platform-scheduler secret delete billing-token", ValidArgsFunction: s.CompleteSecrets,
		RunE: func(c *cobra.Command, args []string) error {
			if err := q.Ask(s.Err, "Delete the secret %s? Runs that name it fail from then on.", args[0]); err != nil {
				return err
			}
			return remote.Send(s, c, "DELETE", "/secrets/"+remote.Segment(args[0]), nil, nil, func(json.RawMessage) error {
				return s.Line("deleted the secret %s", args[0])
			})
		},
	}
	q.Flag(c)
	return c
}

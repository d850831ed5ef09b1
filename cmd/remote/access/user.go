package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// user is what the commands show of a user, and send back of one.
type user struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Role     string `json:"role"`
	// Groups is nil for every group.
	Groups   map[string]string `json:"groups"`
	Commands bool              `json:"commands"`
	Secrets  bool              `json:"secrets"`
	Password string            `json:"password,omitempty"`
	// Permissions are only read.
	Permissions []string `json:"permissions,omitempty"`
	// KeepTokens leaves the API tokens when the password changes.
	KeepTokens bool `json:"keepTokens,omitempty"`
}

// rights says in one word or more where a user may act.
func (u user) rights() string {
	parts := []string{"all groups"}
	if u.Groups != nil {
		parts = nil
		for _, g := range slices.Sorted(maps.Keys(u.Groups)) {
			parts = append(parts, g+":"+u.Groups[g])
		}
	}
	if u.Commands {
		parts = append(parts, "commands")
	}
	if u.Secrets {
		parts = append(parts, "secrets")
	}
	return strings.Join(parts, ", ")
}

func (u user) show(s *remote.Session) error {
	return s.Fields([]output.Field{
		{Name: "Name", Value: u.Username},
		{Name: "Id", Value: u.ID},
		{Name: "Role", Value: u.Role},
		{Name: "Rights", Value: u.rights()},
		{Name: "Permissions", Value: strings.Join(u.Permissions, ", ")},
	})
}

// roleAdmin holds every right.
const roleAdmin = "admin"

// rightsFlags are the flags that say what a user may do.
type rightsFlags struct {
	role              string
	groups            []string
	commands, secrets bool
}

func (f *rightsFlags) add(c *cobra.Command, role string) {
	c.Flags().StringVar(&f.role, "role", role, "admin, operator, viewer or disabled")
	c.Flags().StringArrayVar(&f.groups, "group", nil,
		"bind the user to `GROUP:ROLE`, such as payments:operator; may be repeated, \"all\" for every group")
	c.Flags().BoolVar(&f.commands, "commands", false, "allow the user to define jobs that run commands")
	c.Flags().BoolVar(&f.secrets, "secrets", false, "allow the user to create secrets for the groups of the user")
}

// apply puts what was given on the command line into a user.
func (f *rightsFlags) apply(c *cobra.Command, u *user) error {
	if u.Role == "" || c.Flags().Changed("role") {
		if u.Role == roleAdmin && f.role != roleAdmin {
			// Admins hold them by their role; who is none any more does not keep them.
			u.Commands, u.Secrets = false, false
		}
		u.Role = f.role
	}
	if c.Flags().Changed("commands") {
		u.Commands = f.commands
	}
	if c.Flags().Changed("secrets") {
		u.Secrets = f.secrets
	}
	if !c.Flags().Changed("group") {
		return nil
	}
	u.Groups = nil
	for _, g := range f.groups {
		name, role, bound := strings.Cut(g, ":")
		switch {
		case g == "all" && len(f.groups) == 1:
		case !bound:
			return usage.Errorf("--group must be GROUP:ROLE, such as payments:operator, not %q", g)
		default:
			if u.Groups == nil {
				u.Groups = map[string]string{}
			}
			u.Groups[name] = role
		}
	}
	return nil
}

// asAdmin is a command that changes users. No API token may, so that it wants
// the password of who calls it, and does its work with a session.
type asAdmin struct {
	*remote.Session
	username, passwordFile string
}

func (a *asAdmin) flags(c *cobra.Command) {
	c.Flags().StringVar(&a.username, "username", "", "who signs in for it; by default the user of the context, or admin")
	c.Flags().StringVar(&a.passwordFile, "own-password-file", "",
		"read the password of who signs in from `FILE` instead of asking")
}

// signIn opens a session. end closes it.
func (a *asAdmin) signIn(c *cobra.Command) (api *client.Client, end func(), err error) {
	if err := a.Check(); err != nil {
		return nil, nil, err
	}
	t, err := a.Target(a.username)
	if err != nil {
		return nil, nil, err
	}
	var password string
	if a.passwordFile != "" {
		password, err = remote.Secret(a.passwordFile)
	} else {
		password, err = terminal.Unseen(a.Err, "password of "+t.Username+" at "+t.Server, "--own-password-file")
	}
	if err != nil {
		return nil, nil, err
	}
	return signInWith(a.Session, c, t, password)
}

// withUser signs in and finds a user by name.
func (a *asAdmin) withUser(c *cobra.Command, name string, do func(api *client.Client, u user) error) error {
	api, end, err := a.signIn(c)
	if err != nil {
		return err
	}
	defer end()
	u, err := findUser(c, api, name)
	if err != nil {
		return err
	}
	return do(api, u)
}

func userCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "user", Short: "Manage users (admins)", Example: "  platform-scheduler user list",
		Long: "Manage users. No API token may change users, so that the commands that\ndo ask for one's own password.",
	})
	var pages remote.Pages
	list := &cobra.Command{
		Use: "list", Short: "List the users", Example: "  platform-scheduler user list -o json",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.List(s, c, "/users", nil, pages,
				remote.Column[user]{Name: "name", Of: func(u user) string { return u.Username }},
				remote.Column[user]{Name: "role", Of: func(u user) string { return u.Role }},
				remote.Column[user]{Name: "rights", Of: user.rights},
				remote.Column[user]{Name: "id", Of: func(u user) string { return u.ID }},
			)
		},
	}
	pages.Flags(list, 0)
	c.AddCommand(list, userGet(s), userCreate(s), userUpdate(s), userResetPassword(s), userEndSessions(s), userDelete(s))
	return c
}

func userGet(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "get NAME", Short: "Show a user", Example: "  platform-scheduler user get ann",
		Args: usage.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			known, err := findUser(c, api, args[0])
			if err != nil {
				return err
			}
			return remote.SendBy(s, c, api, "GET", "/users/"+known.ID, nil, nil, func(u user) error { return u.show(s) })
		},
	}
}

func userCreate(s *remote.Session) *cobra.Command {
	var f rightsFlags
	as := &asAdmin{Session: s}
	var passwordFile string
	c := &cobra.Command{
		Use: "create NAME", Short: "Add a user", Args: usage.Args(cobra.ExactArgs(1)),
		Example: "  platform-scheduler user create ann --role operator --group payments:operator --password-file pw",
		RunE: func(c *cobra.Command, args []string) error {
			u := user{Username: args[0]}
			err := f.apply(c, &u)
			if err != nil {
				return err
			}
			if u.Password, err = s.Password(passwordFile, "(new) "+args[0]); err != nil {
				return err
			}
			api, end, err := as.signIn(c)
			if err != nil {
				return err
			}
			defer end()
			return remote.SendBy(s, c, api, "POST", "/users", nil, u, func(made user) error {
				return s.Line("created %s, %s (%s)", made.Username, made.Role, made.rights())
			})
		},
	}
	f.add(c, "viewer")
	as.flags(c)
	c.Flags().StringVar(&passwordFile, "password-file", "", "read the new user's password from `FILE` instead of asking")
	return c
}

func userUpdate(s *remote.Session) *cobra.Command {
	var f rightsFlags
	as := &asAdmin{Session: s}
	c := &cobra.Command{
		Use: "update NAME", Short: "Change the rights of a user, and end the sessions; omitted flags change nothing",
		Args: usage.Args(cobra.ExactArgs(1)),
		Example: "  platform-scheduler user update ann --role operator --group payments:operator --group audit:viewer " +
			"--commands",
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.apply(c, &user{}); err != nil { // before anybody is asked
				return err
			}
			return as.withUser(c, args[0], func(api *client.Client, u user) error {
				if err := f.apply(c, &u); err != nil {
					return err
				}
				return put(s, c, api, u)
			})
		},
	}
	f.add(c, "viewer")
	as.flags(c)
	return c
}

func userResetPassword(s *remote.Session) *cobra.Command {
	as := &asAdmin{Session: s}
	var passwordFile string
	var keepTokens bool
	c := &cobra.Command{
		Use: "reset-password NAME", Short: "Set a new password for a user, end the sessions and revoke the API tokens",
		Args:    usage.Args(cobra.ExactArgs(1)),
		Example: "  platform-scheduler user reset-password ann",
		RunE: func(c *cobra.Command, args []string) error {
			password, err := s.Password(passwordFile, "(new) "+args[0])
			if err != nil {
				return err
			}
			return as.withUser(c, args[0], func(api *client.Client, u user) error {
				u.Password, u.KeepTokens = password, keepTokens
				return put(s, c, api, u)
			})
		},
	}
	as.flags(c)
	c.Flags().StringVar(&passwordFile, "password-file", "", "read the new password from `FILE` instead of asking")
	c.Flags().BoolVar(&keepTokens, "keep-tokens", false, "keep the API tokens of the user")
	return c
}

// put stores what was changed of a user.
func put(s *remote.Session, c *cobra.Command, api *client.Client, u user) error {
	u.Permissions = nil
	return remote.SendBy(s, c, api, "PUT", "/users/"+u.ID, nil, u, func(user) error {
		return s.Line("changed %s", u.Username)
	})
}

func userDelete(s *remote.Session) *cobra.Command {
	var q terminal.Question
	as := &asAdmin{Session: s}
	c := &cobra.Command{
		Use: "delete NAME", Short: "Remove a user with sessions and tokens", Example: "  platform-scheduler user delete ann",
		Args: usage.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return as.withUser(c, args[0], func(api *client.Client, u user) error {
				if err := q.Ask(s.Err, "Remove the user %s with all sessions and tokens?", u.Username); err != nil {
					return err
				}
				return remote.SendBy(s, c, api, "DELETE", "/users/"+u.ID, nil, nil, func(json.RawMessage) error {
					return s.Line("deleted %s", u.Username)
				})
			})
		},
	}
	q.Flag(c)
	as.flags(c)
	return c
}

func userEndSessions(s *remote.Session) *cobra.Command {
	as := &asAdmin{Session: s}
	c := &cobra.Command{
		Use: "end-sessions NAME", Short: "End the sessions of a user, who may sign in again",
		Args:    usage.Args(cobra.ExactArgs(1)),
		Example: "  platform-scheduler user end-sessions ann",
		RunE: func(c *cobra.Command, args []string) error {
			return as.withUser(c, args[0], func(api *client.Client, u user) error {
				return remote.SendBy(s, c, api, "DELETE", "/users/"+u.ID+"/sessions", nil, nil, func(json.RawMessage) error {
					return s.Line("ended the sessions of %s", u.Username)
				})
			})
		},
	}
	as.flags(c)
	return c
}

func findUser(c *cobra.Command, api *client.Client, name string) (user, error) {
	users, err := client.List[user](c.Context(), api, "/users", nil, 0)
	if err != nil {
		return user{}, err
	}
	for _, u := range users {
		if u.Username == name || u.ID == name {
			return u, nil
		}
	}
	return user{}, fmt.Errorf("there is no user named %q", name)
}

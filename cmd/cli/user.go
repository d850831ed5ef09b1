package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// user is what the commands show of a user, and send back of one.
type user struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Role     string `json:"role"`
	// Groups is nil for every group.
	Groups   map[string]string `json:"groups"`
	Commands bool              `json:"commands"`
	Password string            `json:"password,omitempty"`
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
	return strings.Join(parts, ", ")
}

// rightsFlags are the flags that say what a user may do.
type rightsFlags struct {
	role     string
	groups   []string
	commands bool
}

func (f *rightsFlags) add(c *cobra.Command, role string) {
	c.Flags().StringVar(&f.role, "role", role, "admin, operator, viewer or disabled")
	c.Flags().StringArrayVar(&f.groups, "group", nil, "bind the user to `GROUP:ROLE`, such as payments:operator; again for more, \"all\" for every group")
	c.Flags().BoolVar(&f.commands, "commands", false, "give the right to define jobs that run commands")
}

// apply puts what was given on the command line into a user.
func (f *rightsFlags) apply(c *cobra.Command, u *user) error {
	if u.Role == "" || c.Flags().Changed("role") {
		u.Role = f.role
	}
	if c.Flags().Changed("commands") {
		u.Commands = f.commands
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
			return fmt.Errorf("%w: --group must be GROUP:ROLE, such as payments:operator, not %q", errUsage, g)
		default:
			if u.Groups == nil {
				u.Groups = map[string]string{}
			}
			u.Groups[name] = role
		}
	}
	return nil
}

func (r *remote) userCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "user", Short: "Manage who may sign in (admins)", Example: "  platform-scheduler user list", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(r.userCreate(), r.userUpdate(), r.userResetPassword(),
		&cobra.Command{
			Use: "list", Short: "List the users", Example: "  platform-scheduler user list", Args: usageArgs(cobra.NoArgs),
			RunE: func(c *cobra.Command, _ []string) error {
				api, err := r.client()
				if err != nil {
					return err
				}
				users, err := client.List[user](c.Context(), api, "/users", nil, 0)
				if err != nil {
					return err
				}
				return show(r, users, "NAME\tROLE\tRIGHTS\tID", func(u user) []any { return []any{u.Username, u.Role, u.rights(), u.ID} }, "%s\t%s\t%s\t%s")
			},
		},
		&cobra.Command{
			Use: "delete NAME", Short: "Remove a user with sessions and tokens", Example: "  platform-scheduler user delete ann", Args: usageArgs(cobra.ExactArgs(1)),
			RunE: func(c *cobra.Command, args []string) error {
				return r.withUser(c, args[0], func(api *client.Client, u user) error {
					return api.Call(c.Context(), "DELETE", "/users/"+u.ID, nil, nil, nil)
				})
			},
		})
	return c
}

func (r *remote) userCreate() *cobra.Command {
	var f rightsFlags
	var passwordFile string
	c := &cobra.Command{
		Use: "create NAME", Short: "Add a user", Args: usageArgs(cobra.ExactArgs(1)),
		Example: "  platform-scheduler user create ann --role operator --group payments:operator --password-file pw",
		RunE: func(c *cobra.Command, args []string) error {
			u := user{Username: args[0]}
			err := f.apply(c, &u)
			if err != nil {
				return err
			}
			if u.Password, err = r.password(passwordFile, args[0]); err != nil {
				return err
			}
			return r.send(c, "POST", "/users", u)
		},
	}
	f.add(c, "viewer")
	c.Flags().StringVar(&passwordFile, "password-file", "", "read the password from `FILE` instead of asking")
	return c
}

func (r *remote) userUpdate() *cobra.Command {
	var f rightsFlags
	c := &cobra.Command{
		Use: "update NAME", Short: "Change what a user may do, and end the sessions; what is not given stays", Args: usageArgs(cobra.ExactArgs(1)),
		Example: "  platform-scheduler user update ann --role operator --group payments:operator --group audit:viewer --commands",
		RunE: func(c *cobra.Command, args []string) error {
			return r.withUser(c, args[0], func(api *client.Client, u user) error {
				if err := f.apply(c, &u); err != nil {
					return err
				}
				return api.Call(c.Context(), "PUT", "/users/"+u.ID, nil, u, nil)
			})
		},
	}
	f.add(c, "viewer")
	return c
}

func (r *remote) userResetPassword() *cobra.Command {
	var passwordFile string
	c := &cobra.Command{
		Use: "reset-password NAME", Short: "Give a user another password and end the sessions", Args: usageArgs(cobra.ExactArgs(1)),
		Example: "  platform-scheduler user reset-password ann",
		RunE: func(c *cobra.Command, args []string) error {
			return r.withUser(c, args[0], func(api *client.Client, u user) (err error) {
				if u.Password, err = r.password(passwordFile, "(new) "+u.Username); err != nil {
					return err
				}
				return api.Call(c.Context(), "PUT", "/users/"+u.ID, nil, u, nil)
			})
		},
	}
	c.Flags().StringVar(&passwordFile, "password-file", "", "read the password from `FILE` instead of asking")
	return c
}

// withUser finds a user by name.
func (r *remote) withUser(c *cobra.Command, name string, do func(api *client.Client, u user) error) error {
	api, err := r.client()
	if err != nil {
		return err
	}
	users, err := client.List[user](c.Context(), api, "/users", nil, 0)
	if err != nil {
		return err
	}
	for _, u := range users {
		if u.Username == name || u.ID == name {
			return do(api, u)
		}
	}
	return fmt.Errorf("there is no user named %q", name)
}

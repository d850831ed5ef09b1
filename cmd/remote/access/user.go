package access

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// words are what a user, a token or a secret is in words.
var words = remote.Words{
	// Where a user may act.
	"rights": rights,
	"scopes": remote.If("scopes", "{scopes|text}", "all of its owner's"),
	"groups": remote.If("groups", "{groups|text}", "all groups"),
}

func rights(_ *remote.Call, o remote.Object) string {
	parts := []string{"all groups"}
	if groups, bound := o["groups"].(map[string]any); bound {
		parts = nil
		for _, g := range slices.Sorted(maps.Keys(groups)) {
			parts = append(parts, g+":"+fmt.Sprint(groups[g]))
		}
	}
	for _, right := range []string{"commands", "secrets"} {
		if o.Is(right) {
			parts = append(parts, right)
		}
	}
	return strings.Join(parts, ", ")
}

// described are the fields of user get and whoami.
const described = "Name=username, Id=id, Role=role, Rights=rights, Permissions=permissions"

// roleAdmin holds every right.
const roleAdmin = "admin"

// rightsFlags are the flags that say what a user may do.
var rightsFlags = []remote.Flag{
	{Name: "role", Default: "viewer", Help: "admin, operator, viewer or disabled"},
	{
		Name: "group", Default: remote.Each{},
		Help: "bind the user to `GROUP:ROLE`, such as payments:operator; may be repeated, \"all\" for every group",
	},
	{Name: "commands", Default: false, Help: "allow the user to define jobs that run commands"},
	{Name: "secrets", Default: false, Help: "allow the user to create secrets for the groups of the user"},
}

// applyRights puts what was given on the command line into a user.
func applyRights(k *remote.Call, u remote.Object) error {
	if !u.Has("role") || k.Changed("role") {
		if u.Text("role") == roleAdmin && k.Given("role") != roleAdmin {
			// Admins hold them by their role; who is none any more does not keep them.
			u["commands"], u["secrets"] = false, false
		}
		u["role"] = k.Given("role")
	}
	for _, right := range []string{"commands", "secrets"} {
		if k.Changed(right) {
			u[right] = k.On(right)
		}
	}
	if !k.Changed("group") {
		return nil
	}
	groups := map[string]any{}
	for _, g := range k.Listed("group") {
		name, role, bound := strings.Cut(g, ":")
		switch {
		case g == "all" && len(k.Listed("group")) == 1:
		case !bound:
			return usage.Errorf("--group must be GROUP:ROLE, such as payments:operator, not %q", g)
		default:
			groups[name] = role
		}
	}
	u["groups"] = nil
	if len(groups) > 0 {
		u["groups"] = groups
	}
	return nil
}

// asAdmin completes a command that changes users. No API token may, so that it wants the password of who
// calls it, and does its work with a session.
func asAdmin(v remote.Verb) remote.Verb {
	v.Own = slices.Concat(v.Own, []remote.Flag{
		{Name: "username", Help: "who signs in for it; by default the user of the context, or admin"},
		{Name: "own-password-file", Help: "read the password of who signs in from `FILE` instead of asking"},
	})
	v.Connect = signedIn("own-password-file")
	return v
}

var users = remote.Verb{
	Use: "user", Short: "Manage users (admins)", Example: "user list", Words: words,
	Long: "Manage users. No API token may change users, so that the commands that\ndo ask for one's own password.",
}

var userVerbs = []remote.Verb{
	{
		Use: "list", Short: "List the users", Example: "user list -o json", Path: "/users", Paged: true,
		Columns: "name=username, role, rights, id",
	},
	{
		Use: "get NAME", Short: "Show a user", Example: "user get ann", Find: named, Path: "/users/{id}",
		Fields: described,
	},
	asAdmin(remote.Verb{
		Use: "create NAME", Short: "Add a user",
		Example: "user create ann --role operator --group payments:operator --password-file pw",
		Own: append([]remote.Flag{
			{Name: "password-file", Help: "read the new user's password from `FILE` instead of asking"},
		}, rightsFlags...),
		Check: func(k *remote.Call) (err error) {
			k.Found = remote.Object{"groups": nil, "commands": false, "secrets": false, "id": "", "username": k.Args[0]}
			if err = applyRights(k, k.Found); err == nil {
				err = newPassword(k)
			}
			k.Found["password"] = k.Secret
			return err
		},
		Method: "POST", Path: "/users", Done: "created {username}, {role} ({rights})",
		Body: func(k *remote.Call, _ map[string]any) (any, error) { return k.Found, nil },
	}),
	change(remote.Verb{
		Use:     "update NAME",
		Short:   "Change the rights of a user, and end the sessions; omitted flags change nothing",
		Example: "user update ann --role operator --group payments:operator --group audit:viewer --commands",
		Own:     rightsFlags,
		// Before anybody is asked.
		Check: func(k *remote.Call) error { return applyRights(k, remote.Object{}) },
	}, applyRights),
	change(remote.Verb{
		Use:     "reset-password NAME",
		Short:   "Set a new password for a user, end the sessions and revoke the API tokens",
		Example: "user reset-password ann",
		Own: []remote.Flag{
			{Name: "password-file", Help: "read the new password from `FILE` instead of asking"},
			{Name: "keep-tokens", Default: false, Help: "keep the API tokens of the user"},
		},
		Check: newPassword,
	}, func(k *remote.Call, u remote.Object) error {
		u["password"] = k.Secret
		if k.On("keep-tokens") {
			u["keepTokens"] = true
		}
		return nil
	}),
	asAdmin(remote.Verb{
		Use: "end-sessions NAME", Short: "End the sessions of a user, who may sign in again",
		Example: "user end-sessions ann", Find: named,
		Method: "DELETE", Path: "/users/{id}/sessions", Done: "ended the sessions of {found}",
	}),
	asAdmin(remote.Verb{
		Use: "delete NAME", Short: "Remove a user with sessions and tokens", Example: "user delete ann",
		Find:   named,
		Ask:    "Remove the user {found} with all sessions and tokens?",
		Method: "DELETE", Path: "/users/{id}", Done: "deleted {found}",
	}),
}

// newPassword reads the password of the user that the argument names.
func newPassword(k *remote.Call) (err error) {
	k.Secret, err = k.Password("password-file", "password of (new) "+k.Args[0])
	return err
}

// change completes a command that stores what was changed of a user.
func change(v remote.Verb, apply func(k *remote.Call, u remote.Object) error) remote.Verb {
	v.Find, v.Method, v.Path, v.Done = named, "PUT", "/users/{id}", "changed {found}"
	v.Body = func(k *remote.Call, _ map[string]any) (any, error) {
		u := remote.Object{}
		for _, name := range []string{"id", "username", "role", "groups", "commands", "secrets"} {
			u[name] = k.Found[name]
		}
		return u, apply(k, u)
	}
	return asAdmin(v)
}

// named finds the user that the argument names.
func named(k *remote.Call) (err error) {
	k.Found, err = findUser(k, k.Args[0])
	k.ID, k.Title = k.Found.Text("id"), k.Found.Text("username")
	return err
}

func findUser(k *remote.Call, name string) (remote.Object, error) {
	u, err := k.Named("/users", "username", name)
	if err == nil && u == nil {
		err = fmt.Errorf("there is no user named %q", name)
	}
	return u, err
}

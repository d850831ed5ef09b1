package access

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

func passwordCommand(s *remote.Session) *cobra.Command {
	as := &asOneself{Session: s}
	var newFile string
	c := &cobra.Command{
		Use: "password", Short: "Change your password", Args: usage.Args(cobra.NoArgs),
		Long: `Change your password at the server of the context. It ends every session.
The token of the context is replaced where the change has revoked it.`,
		Example: "  platform-scheduler password\n  platform-scheduler password --password-file old --new-password-file new",
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := s.Check(); err != nil {
			return err
		}
		t, err := s.Target(as.username)
		if err != nil {
			return err
		}
		before, err := s.Password(as.passwordFile, t.Username+" at "+t.Server)
		if err != nil {
			return err
		}
		api, end, err := signInWith(s, c, t, before)
		if err != nil {
			return err
		}
		defer end()
		after, err := newPassword(s, newFile)
		if err != nil {
			return err
		}
		if err := api.Call(c.Context(), "POST", "/auth/password", nil,
			map[string]string{"oldPassword": before, "newPassword": after}, nil); err != nil {
			return err
		}
		if err := s.Line("the password of %s at %s is changed", t.Username, t.Server); err != nil {
			return err
		}
		if err := renew(s, c, t, after); err != nil {
			return fmt.Errorf("the context could not be signed in again; run platform-scheduler login: %w", err)
		}
		return nil
	}
	as.flags(c)
	c.Flags().StringVar(&newFile, "new-password-file", "", "read the new password from `FILE` instead of asking")
	return c
}

// newPassword asks twice, so that a slip of the hand locks nobody out.
func newPassword(s *remote.Session, file string) (string, error) {
	if file != "" {
		return remote.Secret(file)
	}
	first, err := terminal.Unseen(s.Err, "new password", "--new-password-file")
	if err != nil {
		return "", err
	}
	second, err := terminal.Unseen(s.Err, "new password, again", "--new-password-file")
	if err == nil && first != second {
		err = errors.New("the two are not the same; nothing was changed")
	}
	return first, err
}

// renew gives the context of a user another token where the old one is not good
// any more.
func renew(s *remote.Session, c *cobra.Command, t remote.Target, password string) error {
	contexts, err := s.Contexts()
	if err != nil {
		return err
	}
	name := contexts.Current
	if s.Context() != "" {
		name = s.Context()
	}
	known, ok := contexts.Contexts[name]
	if server, err := remote.Address(known.Server); !ok || err != nil || server != t.Server || known.User != t.Username {
		return nil // it is somebody else's
	}
	old, err := s.Connect(t, known.Token)
	if err != nil {
		return err
	}
	if err := old.Call(c.Context(), "GET", "/auth/me", nil, nil, nil); !client.IsStatus(err, 401) {
		return err
	}
	api, end, err := signInWith(s, c, t, password)
	if err != nil {
		return err
	}
	defer end()
	made, err := contextToken(s, c, api)
	if err != nil {
		return err
	}
	known.Token, known.TokenID = made.Token, made.ID
	contexts.Contexts[name] = known
	return contexts.Save()
}

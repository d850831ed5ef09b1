package cli

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// everyCommand calls fn with each command but those that cobra adds.
func everyCommand(fn func(c *cobra.Command)) {
	s := newSession(io.Discard, io.Discard, nil)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			fn(sub)
			walk(sub)
		}
	}
	walk(s.rootCommand())
}

func TestEveryCommandHasAnExample(t *testing.T) {
	everyCommand(func(c *cobra.Command) {
		require.NotEmpty(t, c.Example, c.CommandPath())
		require.NotEmpty(t, c.Short, c.CommandPath())
	})
}

// A command that deletes nothing must not say that a flag of it does.
func TestForcingASecretTakesItFromGroupsAndDeletesNothing(t *testing.T) {
	found := false
	everyCommand(func(c *cobra.Command) {
		if c.CommandPath() != "platform-scheduler secret set" {
			return
		}
		found = true
		usage := c.Flags().Lookup("force").Usage
		require.NotContains(t, usage, "delete")
		require.Contains(t, usage, "groups")
	})
	require.True(t, found)
}

// A command that prints anything does so in every form. The server prints what happens.
func TestEveryCommandPrintsInEveryForm(t *testing.T) {
	everyCommand(func(c *cobra.Command) {
		if top := c; !c.HasSubCommands() && !c.Hidden {
			for top.Parent() != nil && top.Parent().HasParent() {
				top = top.Parent()
			}
			if top.Name() == "server" {
				return
			}
			flag := c.InheritedFlags().ShorthandLookup("o")
			if flag == nil {
				flag = c.Flags().ShorthandLookup("o")
			}
			if flag == nil {
				flag = c.PersistentFlags().ShorthandLookup("o")
			}
			require.NotNil(t, flag, c.CommandPath())
			require.Equal(t, "output", flag.Name, c.CommandPath())
		}
	})
}

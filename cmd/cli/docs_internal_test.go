package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```")
	codeSpan  = regexp.MustCompile("`[^`\n]+`")
	typedFlag = regexp.MustCompile(`(?:^|[\s\[])--?([a-z][a-z-]*)`)
)

// Each command that a page shows is there, with its flags.
func TestThePagesShowCommandsThatThereAre(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	pages = append(pages, "../../README.md")
	root := newSession(io.Discard, io.Discard, nil).rootCommand()
	root.InitDefaultCompletionCmd()
	shown := map[*cobra.Command]bool{}
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		text := string(raw)
		var pieces []string
		for _, block := range codeBlock.FindAllString(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
				if strings.Contains(line, "platform-scheduler ") { // in a block it is named
					pieces = append(pieces, line)
				}
			}
		}
		for _, span := range codeSpan.FindAllString(codeBlock.ReplaceAllString(text, ""), -1) {
			pieces = append(pieces, strings.Trim(span, "`"))
		}
		for _, piece := range pieces {
			for _, c := range checkShown(t, root, page, piece) {
				shown[c] = true
			}
		}
	}
	require.Greater(t, len(shown), 60, "the pages show most commands")
}

// checkShown checks the commands in a piece of code, and returns them.
func checkShown(t *testing.T, root *cobra.Command, page, piece string) (found []*cobra.Command) {
	t.Helper()
	_, line, named := strings.Cut(piece, "platform-scheduler ")
	if !named {
		line = piece
	}
	line, _, _ = strings.Cut(line, " #")
	for _, end := range []string{" | ", ";", " > ", ", "} {
		line, _, _ = strings.Cut(line, end)
	}
	words := strings.Fields(strings.ReplaceAll(line, `\|`, "|"))
	if len(words) == 0 {
		return nil
	}
	top, _, err := root.Find(words[:1])
	if err != nil || top == root || !named && !top.HasSubCommands() {
		require.False(t, named && regexp.MustCompile(`^[a-z-]+$`).MatchString(words[0]) &&
			strings.HasPrefix(piece, "platform-scheduler "), "%s: %s", page, piece)
		return nil
	}
	commands := []*cobra.Command{top}
	if top.HasSubCommands() && len(words) > 1 {
		commands = nil
		for _, name := range strings.Split(words[1], "|") {
			if !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(name) {
				return []*cobra.Command{top}
			}
			c, _, err := top.Find([]string{name})
			require.NoError(t, err, "%s: %s", page, piece)
			require.NotEqual(t, top.Name(), c.Name(), "%s: %s: there is no %s", page, piece, name)
			commands = append(commands, c)
		}
	}
	for at := 2; len(commands) == 1 && commands[0].HasSubCommands() && len(words) > at; at++ {
		below, _, err := commands[0].Find(words[at : at+1])
		if err != nil || below == commands[0] {
			break
		}
		commands = []*cobra.Command{below}
	}
	for _, m := range typedFlag.FindAllStringSubmatch(line, -1) {
		known := false
		for _, c := range commands {
			c.InheritedFlags() // adds those of its parents
			known = known || c.Flags().Lookup(m[1]) != nil || len(m[1]) == 1 && c.Flags().ShorthandLookup(m[1]) != nil ||
				m[1] == "help"
		}
		require.True(t, known, "%s: %s: there is no flag %s", page, piece, m[1])
	}
	return commands
}

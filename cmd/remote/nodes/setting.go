package nodes

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// setting is what the command shows of a setting.
type setting struct {
	Name    string `json:"name"`
	Value   any    `json:"value"`
	Source  string `json:"source"`
	Meaning string `json:"meaning"`
}

func settingsCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "settings", Short: "List the settings of the node that answers, without secrets",
		Example: "  platform-scheduler settings\n  platform-scheduler settings -o json", Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.Whole(s, c, "/settings", nil,
				remote.Column[setting]{Name: "name", Of: func(e setting) string { return e.Name }},
				remote.Column[setting]{Name: "value", Of: setting.value},
				remote.Column[setting]{Name: "source", Of: func(e setting) string { return e.Source }},
				remote.Column[setting]{Name: "meaning", Of: func(e setting) string { return e.Meaning }},
			)
		},
	}
}

func (e setting) value() string {
	if e.Value == nil {
		return ""
	}
	return fmt.Sprint(e.Value)
}

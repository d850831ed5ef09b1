package alerts

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

func templateCommand(s *remote.Session) *cobra.Command {
	c := templateKind.command(s, "Manage templates of messages",
		"  platform-scheduler template list\n  platform-scheduler template preview -f template.yaml --language zh")
	c.AddCommand(templatePreview(s))
	return c
}

func templatePreview(s *remote.Session) *cobra.Command {
	var file, language, channelType string
	c := &cobra.Command{
		Use: "preview [TEMPLATE]", Short: "Show what a template makes of a sample alert",
		Long: "Show what a template, or the one in a file, makes of a sample alert. Nothing is sent\nor kept.",
		Args: usage.Args(cobra.MaximumNArgs(1)),
		Example: "  platform-scheduler template preview billing\n  platform-scheduler template preview -f template.yaml " +
			"--channel-type SLACK --language zh",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 == (file != "") {
				return usage.Errorf("name a template, or a file with -f")
			}
			api, err := s.Client()
			if err != nil {
				return err
			}
			body, err := textsOf(s, c, api, file, args)
			if err != nil {
				return err
			}
			for name, value := range map[string]string{"language": language, "channelType": channelType} {
				if value != "" {
					body[name] = value
				}
			}
			return remote.SendBy(s, c, api, "POST", templateKind.path+"/preview", nil, body,
				func(raw json.RawMessage) error { return asYAML(s, raw) })
		},
	}
	fileFlag(c, &file)
	c.Flags().StringVar(&language, "language", "", "that of the message: en or zh; en by default")
	c.Flags().StringVar(&channelType, "channel-type", "",
		"the type of channel that it is for, such as SLACK; EMAIL by default")
	return c
}

// textsOf are the texts of a template that a file holds, or an argument names. What is not known
// stays, so that the server names it.
func textsOf(s *remote.Session, c *cobra.Command, api *client.Client, file string, args []string) (
	texts map[string]any, err error,
) {
	if file != "" {
		texts, err = readFile(s, c, api, file)
	} else {
		var found object
		found, err = find(c, api, templateKind, args[0])
		texts = found.fields
	}
	for _, name := range []string{"id", "name", "group", "enabled", "version", "createTime", "updateTime"} {
		delete(texts, name)
	}
	return texts, err
}

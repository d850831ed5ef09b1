package alerts

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

func channelCommand(s *remote.Session) *cobra.Command {
	c := channelKind.command(s, "Manage channels, by which alerts reach people and programs",
		"  platform-scheduler channel create -f mail.yaml --secret-file password=password.txt\n"+
			"  platform-scheduler channel test \"mail to billing\"")
	c.AddCommand(channelTest(s))
	return c
}

// secretFiles name the files of secrets of a configuration, each as FIELD=FILE.
type secretFiles []string

func (f *secretFiles) flag(c *cobra.Command) {
	c.Flags().StringArrayVar((*[]string)(f), "secret-file", nil,
		"read a secret of the configuration from a file, as `FIELD=FILE` (headers.X-Key=FILE for a header); - is standard "+
			"input; may be repeated")
}

// into puts the secrets into the configuration of a body. Used is the file of the body.
func (f secretFiles) into(body map[string]any, used string) error {
	given := used == "-"
	for _, text := range f {
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" {
			return usage.Errorf("--secret-file must be FIELD=FILE, such as password=password.txt")
		}
		if file == "-" && given {
			return usage.Errorf("standard input can be read once: name another file for %s", name)
		}
		given = given || file == "-"
		value, err := secretIn(file)
		if err != nil {
			return fmt.Errorf("read the secret %s: %w", name, err)
		}
		config, ok := body["config"].(map[string]any)
		if !ok {
			config = map[string]any{}
			body["config"] = config
		}
		put(config, name, value)
	}
	return nil
}

// put gives a field a value; a field with a dot is one of an object, and secrets is a list.
func put(config map[string]any, name, value string) {
	field, key, nested := strings.Cut(name, ".")
	switch {
	case nested:
		part, ok := config[field].(map[string]any)
		if !ok {
			part = map[string]any{}
			config[field] = part
		}
		part[key] = value
	case field == "secrets":
		list, _ := config[field].([]any)
		config[field] = append(list, value)
	default:
		config[field] = value
	}
}

// secretIn is what a file holds, without the line breaks at its end.
func secretIn(file string) (string, error) {
	if file != "-" {
		return remote.Secret(file)
	}
	text, err := io.ReadAll(os.Stdin)
	return strings.TrimRight(string(text), "\r\n"), err
}

func channelTest(s *remote.Session) *cobra.Command {
	c := channelKind.onOne(s, "test", "Send a test message through a channel", func(c *cobra.Command,
		api *client.Client, found object,
	) error {
		var answer json.RawMessage
		err := api.Call(c.Context(), "POST", channelKind.path+"/"+remote.Segment(found.ID)+"/test", nil, nil, &answer)
		if err != nil {
			return err
		}
		var tried struct {
			Result, Code, Message string
			DurationMs            int64
		}
		if err := json.Unmarshal(answer, &tried); err != nil {
			return err
		}
		if !s.ForPeople() {
			err = s.Raw(answer)
		} else if tried.Result == "SENT" {
			err = s.Line("the channel %s took the message after %s", found.Name, remote.Took(&tried.DurationMs))
		}
		if err == nil && tried.Result != "SENT" {
			err = fmt.Errorf("the message ended as %s (%s): %s", tried.Result, tried.Code, tried.Message)
		}
		return err
	})
	c.Long = "Send a test message through a channel, also one that is switched off. It exits with 1\nunless the " +
		"receiver " +
		"took it. One test of a channel in 5 s."
	return c
}

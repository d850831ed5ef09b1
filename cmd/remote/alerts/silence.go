package alerts

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

func silenceCommand(s *remote.Session) *cobra.Command {
	k := kind{word: "silence", path: "/alert-silences", noun: "silence", columns: []remote.Column[setting]{
		column("match", func(v setting) string { return labelText(v.Match) }),
		column("from", func(v setting) string { return s.Moment(v.From) }),
		column("to", func(v setting) string { return s.Moment(v.To) }),
		column("active", func(v setting) string { return fmt.Sprint(v.Active) }),
		column("by", func(v setting) string { return v.By }), column("comment", func(v setting) string { return v.Comment }),
	}}
	c := usage.Parent(&cobra.Command{
		Use: "silence", Short: "Hold back the messages of alerts for a time",
		Example: "  platform-scheduler silence create --match job=\"settle orders\" --for 2h --comment \"the ledger moves\"",
	})
	c.AddCommand(k.list(s), k.show(s), silenceCreate(s, k), k.edit(s), k.remove(s))
	return c
}

// silenceFlags are those of silence create.
type silenceFlags struct {
	file, name, group, comment string
	match                      []string
	length                     time.Duration
	span                       remote.Span
}

func silenceCreate(s *remote.Session, k kind) *cobra.Command {
	var f silenceFlags
	c := &cobra.Command{
		Use: "create", Short: "Silence alerts that have these labels", Args: usage.Args(cobra.NoArgs),
		Long: `Silence alerts that have all of these labels. The alerts themselves go on. Every
alert has the labels alertname and severity, and where it is about one, group,
node and those of its job. See platform-scheduler alert get.`,
		Example: "  platform-scheduler silence create --match job=\"settle orders\" --for 2h\n  platform-scheduler silence " +
			"create --match severity=WARNING --group billing --from 22:00 --to 2026-11-15T06:00:00Z",
		RunE: func(c *cobra.Command, _ []string) error { return f.run(s, c, k) },
	}
	c.Flags().StringArrayVar(&f.match, "match", nil, "a label that alerts must have, as `NAME=VALUE`; may be repeated")
	c.Flags().DurationVar(&f.length, "for", 0, "how long it holds, such as 2h")
	c.Flags().StringVar(&f.name, "name", "", "a name, to find it by")
	c.Flags().StringVar(&f.group, "group", "", "silence only alerts of this group")
	c.Flags().StringVar(&f.comment, "comment", "", "why, for others")
	f.span.Flags(c, "this machine")
	fileFlag(c, &f.file)
	return c
}

func (f *silenceFlags) run(s *remote.Session, c *cobra.Command, k kind) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	if f.file != "" {
		if len(f.match) > 0 {
			return usage.Errorf("give a file or --match, not both")
		}
		body, err := readFile(s, c, api, f.file)
		if err != nil {
			return err
		}
		return k.send(s, c, api, "POST", k.path, body, "created")
	}
	body, err := f.body(s)
	if err != nil {
		return err
	}
	return k.send(s, c, api, "POST", k.path, body, "created")
}

// body is what the API takes.
func (f *silenceFlags) body(s *remote.Session) (map[string]any, error) {
	match := map[string]string{}
	for _, text := range f.match {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usage.Errorf("--match must be a label such as team=billing, not %q", text)
		}
		match[name] = value
	}
	from, to, err := f.span.Sent(s, "")
	if err != nil {
		return nil, err
	}
	if len(match) == 0 || (f.length > 0) == (to != "") || f.length < 0 {
		return nil, usage.Errorf("say what to silence with --match, and until when with --for or --to")
	}
	if f.length > 0 {
		start := s.Clock.Now()
		if from != "" {
			if start, err = time.Parse(time.RFC3339Nano, from); err != nil {
				return nil, err
			}
		}
		to = remote.Sent(start.Add(f.length))
	}
	body := map[string]any{"match": match, "to": to}
	for name, value := range map[string]string{
		"from": from, "name": f.name, "group": f.group, "comment": f.comment,
	} {
		if value != "" {
			body[name] = value
		}
	}
	return body, nil
}

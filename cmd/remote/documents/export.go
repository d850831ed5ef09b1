package documents

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// The formats of an export, which are also the extensions of its files.
const (
	formatYAML = "yaml"
	formatJSON = "json"
)

// exporting is one run of job export.
type exporting struct {
	*remote.Session
	group, folder string
}

// ExportCommand is job export; group is what its flag --group names.
func ExportCommand(s *remote.Session, group *string) *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:   "export",
		Short: "Print definitions in the form that job apply reads",
		Long: `Print definitions as YAML, or with --output json as JSON, ordered by group and
name. With --output-dir each group becomes a file of its own. Applying what was
exported changes nothing.`,
		Example: "  platform-scheduler job export --group default > jobs.yaml\n  platform-scheduler job export " +
			"--output-dir jobs/",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			e := exporting{s, *group, folder}
			if folder == "" {
				return export(c.Context(), api, e.group, e.format(), s.Out)
			}
			return e.into(c.Context(), api)
		},
	}
	c.Flags().StringVar(&folder, "output-dir", "", "write a file for each group into `DIR`")
	return c
}

func (e exporting) format() string {
	if e.Format == output.JSON {
		return formatJSON
	}
	return formatYAML
}

// export copies the definitions of a group, or of all, to a writer.
func export(ctx context.Context, api *client.Client, group, format string, to io.Writer) error {
	from, err := api.Stream(ctx, "/export?"+remote.Query("format", format, "group", group).Encode(), "")
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("the export broke off: %w", err)
	}
	return nil
}

// into writes a file for each group, whole or not at all.
func (e exporting) into(ctx context.Context, api *client.Client) error {
	groups := []string{e.group}
	if e.group == "" {
		all, err := client.List[struct{ Name string }](ctx, api, "/groups", nil, 0)
		if err != nil {
			return err
		}
		groups = nil
		for _, g := range all {
			groups = append(groups, g.Name)
		}
	}
	if err := os.MkdirAll(e.folder, 0o755); err != nil {
		return err
	}
	bar := newProgress(e.Err, len(groups))
	defer bar.clear()
	files := []string{}
	for _, group := range groups {
		file := filepath.Join(e.folder, fileName(group)+"."+e.format())
		if err := wholeFile(file, 0o644, func(w io.Writer) error {
			return export(ctx, api, group, e.format(), w)
		}); err != nil {
			return err
		}
		files = append(files, file)
		bar.step()
	}
	bar.clear()
	if !e.ForPeople() {
		return e.Value(map[string][]string{"files": files})
	}
	return e.Line("%d groups in %s", len(groups), e.folder)
}

// fileName is the name of a group as that of a file, in the folder that was
// named and nowhere else.
func fileName(group string) string {
	name := strings.NewReplacer("%", "%25", "/", "%2F", "\x00", "%00").Replace(group)
	if strings.HasPrefix(name, ".") {
		name = "%2E" + name[1:]
	}
	return name
}

// wholeFile writes a file, whole or not at all.
func wholeFile(file string, mode os.FileMode, write func(io.Writer) error) error {
	half := file + ".new"
	f, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	err = write(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(half, file)
	}
	if err != nil {
		_ = os.Remove(half)
	}
	return err
}

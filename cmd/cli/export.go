package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

func (r *remote) exportCommand(group *string) *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:   "export",
		Short: "Print definitions as job apply takes them",
		Long: `Print definitions as YAML, or with --output json as JSON, ordered by group and
name. With --output-dir each group becomes a file of its own. Applying what was
exported changes nothing.`,
		Example: "  platform-scheduler job export --group default > jobs.yaml\n  platform-scheduler job export --output-dir jobs/",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := r.client()
			if err != nil {
				return err
			}
			if folder == "" {
				return r.export(c.Context(), api, *group, r.out)
			}
			return r.exportInto(c.Context(), api, *group, folder)
		},
	}
	c.Flags().StringVar(&folder, "output-dir", "", "write a file for each group into `DIR`")
	return c
}

// extension is that of the files that an export makes.
func (r *remote) extension() string {
	if r.output == "json" {
		return "json"
	}
	return "yaml"
}

// export copies the definitions of a group, or of all, to a writer.
func (r *remote) export(ctx context.Context, api *client.Client, group string, to io.Writer) error {
	query := url.Values{"format": {r.extension()}}
	if group != "" {
		query.Set("group", group)
	}
	from, err := api.Stream(ctx, "/export?"+query.Encode(), "")
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.Copy(to, from); err != nil {
		return fmt.Errorf("the export broke off: %w", err)
	}
	return nil
}

// exportInto writes a file for each group, whole or not at all.
func (r *remote) exportInto(ctx context.Context, api *client.Client, group, folder string) error {
	groups := []groupView{{Name: group}}
	if group == "" {
		var err error
		if groups, err = client.List[groupView](ctx, api, "/groups", nil, 0); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	bar := newProgress(r.err, len(groups))
	defer bar.clear()
	for _, g := range groups {
		file := filepath.Join(folder, g.Name+"."+r.extension())
		if err := wholeFile(file, 0o644, func(w io.Writer) error { return r.export(ctx, api, g.Name, w) }); err != nil {
			return err
		}
		bar.step()
	}
	bar.clear()
	_, err := fmt.Fprintf(r.out, "%d groups in %s\n", len(groups), folder)
	return err
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

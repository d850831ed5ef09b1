package documents

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// Export is job export.
var Export = remote.Verb{
	Use:   "export",
	Short: "Print definitions in the form that job apply reads",
	Long: `Print definitions as YAML, or with --output json as JSON, ordered by group and
name. With --output-dir each group becomes a file of its own. Applying what was
exported changes nothing.`,
	Example: "job export --group default > jobs.yaml\njob export --output-dir jobs/",
	Own:     []remote.Flag{{Name: "output-dir", Help: "write a file for each group into `DIR`"}},
	Run: func(k *remote.Call) error {
		format := formatOf(k)
		if folder := k.Given("output-dir"); folder != "" {
			return exportInto(k, folder, format)
		}
		return export(k, k.Given("group"), format, "jobs", k.Out)
	},
}

// exportAll is export.
var exportAll = remote.Verb{
	Use:   "export",
	Short: "Print jobs and alert settings in the form that apply reads",
	Long: `Print groups, jobs and settings of alerting as YAML, or with --output json as
JSON. Settings are those that you may edit, with *** for the secrets of channels:
apply keeps the stored ones. Applying what was exported changes nothing.`,
	Example: "export > scheduler.yaml\nexport --parts alerting --group billing",
	Own: []remote.Flag{
		{Name: "parts", Default: "all", Help: "jobs, alerting or all"},
		{Name: "group", Help: "only what belongs to this `GROUP`"},
	},
	Run: func(k *remote.Call) error {
		return export(k, k.Given("group"), formatOf(k), k.Given("parts"), k.Out)
	},
}

// formatOf is the form of a document: JSON where that is asked for, else YAML.
func formatOf(k *remote.Call) string {
	if k.Format == output.JSON {
		return output.JSON
	}
	return output.YAML
}

// export copies the definitions of a group, or of all, to a writer.
func export(k *remote.Call, group, format, parts string, to io.Writer) error {
	return k.Export("/export", remote.Query(map[string]any{"format": format, "group": group, "parts": parts}), to)
}

// exportInto writes a file for each group, whole or not at all; the format is the extension of its name.
func exportInto(k *remote.Call, folder, format string) error {
	type named struct{ Name string }
	groups, err := []named{{k.Given("group")}}, error(nil)
	if groups[0].Name == "" {
		groups, err = client.List[named](k.Cmd.Context(), k.API, "/groups", nil, 0)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	bar := newProgress(k.Err, len(groups))
	defer bar.clear()
	files := []string{}
	for _, group := range groups {
		file := filepath.Join(folder, fileName(group.Name)+"."+format)
		write := func(w io.Writer) error { return export(k, group.Name, format, "jobs", w) }
		if err := wholeFile(file, 0o644, write); err != nil {
			return err
		}
		files = append(files, file)
		bar.step()
	}
	bar.clear()
	k.Either(map[string][]string{"files": files}, "%d groups in %s", len(groups), folder)
	return nil
}

// fileName is the name of a group as that of a file, in the folder that was named and nowhere else.
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

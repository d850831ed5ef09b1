package prometheus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// rule is a recording rule or an alert, as Prometheus reads it.
type rule struct {
	Record, Alert, Expr string
	Labels              map[string]string
	Annotations         map[string]string
}

// rules reads a file of rules.
func rules(t *testing.T, name string) (all []rule) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(configs, "rules", name))
	require.NoError(t, err)
	var file struct{ Groups []struct{ Rules []rule } }
	require.NoError(t, yaml.Unmarshal(raw, &file))
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// page returns the text of the page that a link leads to, and marks it as seen.
func page(t *testing.T, link string, seen map[string]bool) string {
	t.Helper()
	name, ok := strings.CutPrefix(link, alert.Runbooks)
	require.True(t, ok, "%s is not below %s", link, alert.Runbooks)
	text, err := os.ReadFile(filepath.Join("../../docs/runbooks", filepath.FromSlash(name)))
	require.NoError(t, err, "%s leads nowhere", link)
	seen[name] = true
	return string(text)
}

// Each type of rule, each rule of the first start and each alert of Prometheus has a page, and each page an alert.
func TestEachAlertHasItsPage(t *testing.T) {
	seen := map[string]bool{"README.md": true}
	list, err := os.ReadFile("../../docs/runbooks/README.md")
	require.NoError(t, err)
	for _, kind := range alert.RuleTypes() {
		text := page(t, kind.RunbookURL(), seen)
		require.True(t, strings.HasPrefix(text, "# "+string(kind)+"\n"), kind)
		require.Contains(t, text, "\n## Do\n", kind)
		require.Contains(t, string(list), "| ["+string(kind)+"]("+filepath.Base(kind.RunbookURL())+") |")
	}
	for _, r := range alerting.DefaultRules(time.Now()) {
		require.Contains(t, page(t, r.Type.RunbookURL(), seen), "`"+r.Name+"`", "the page of %s names its default rule",
			r.Type)
		require.Contains(t, string(list), "["+string(r.Type)+"]("+filepath.Base(r.Type.RunbookURL())+") | "+r.Default+" |")
	}
	for _, r := range rules(t, "alerts.yml") {
		text := page(t, r.Annotations["runbook_url"], seen)
		require.True(t, strings.HasPrefix(text, "# "+r.Alert+"\n"), r.Alert)
		require.Contains(t, text, "Severity: "+r.Labels["severity"]+".\n", r.Alert)
		require.Contains(t, text, "\n## Do\n", r.Alert)
		require.Contains(t, string(list), "["+r.Alert+"](prometheus/")
	}
	require.NoError(t, filepath.WalkDir("../../docs/runbooks", func(path string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		if name, _ := filepath.Rel("../../docs/runbooks", path); !entry.IsDir() {
			require.True(t, seen[filepath.ToSlash(name)], "%s is the page of no alert", name)
		}
		return nil
	}))
}

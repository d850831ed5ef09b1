package alert_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// again reads a stored document, and writes it as this release does.
func again[T any, P alert.Defined[T]](t *testing.T, kind alert.Kind, document string,
) string {
	t.Helper()
	v, err := alert.Read[T, P](alert.Setting{Kind: kind, Document: document})
	require.NoError(t, err, kind)
	s, err := alert.SettingOf[T, P](kind, v)
	require.NoError(t, err, kind)
	return s.Document
}

// A store holds documents of former releases: a field that is renamed needs a migration. Nodes of the former release
// read what this one writes while they are replaced: it has every field that they know, under its name.
func TestDocumentsOfTheFormerReleaseAreReadWhole(t *testing.T) {
	t.Parallel()
	kinds := map[alert.Kind]func(*testing.T, alert.Kind, string) string{
		alert.KindRule: again[alert.Rule], alert.KindChannel: again[alert.Channel], alert.KindSilence: again[alert.Silence],
		alert.KindRoute: again[alert.Route], alert.KindTemplate: again[alert.Template], alert.KindTeam: again[alert.Team],
		alert.KindContact: again[alert.Contact], alert.KindOnCall: again[alert.OnCall],
	}
	for _, kind := range alert.Kinds() {
		name := strings.ToLower(string(kind)) + ".json"
		document, err := os.ReadFile(filepath.Join("testdata", "documents", name))
		require.NoError(t, err)
		var former, now map[string]any
		require.NoError(t, json.Unmarshal(document, &former))
		written := kinds[kind](t, kind, string(document))
		require.NoError(t, json.Unmarshal([]byte(written), &now))
		require.EqualValues(t, 1, now["v"], kind)
		for name, value := range former {
			parts, whole := value.(map[string]any)
			if !whole {
				require.Equal(t, value, now[name], "%s of %s", name, kind)
			}
			for part, value := range parts { // this release may have more of them
				require.Equal(t, value, now[name].(map[string]any)[part], "%s.%s of %s", name, part, kind)
			}
		}
		require.JSONEq(t, written, kinds[kind](t, kind, written), kind)
	}
}

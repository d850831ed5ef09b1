package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// own are fields of answers that the command line makes itself.
var own = map[string]string{
	"file": "backup", "server": "context list", "current": "context list",
}

var jsonTag = regexp.MustCompile("`json:\"([A-Za-z]+)")

// What the tables read is in the document of the API: a field that gets another
// name there would be an empty column here.
func TestTheTablesReadFieldsThatThereAre(t *testing.T) {
	raw, err := os.ReadFile("../../api/openapi/openapi.json")
	require.NoError(t, err)
	var document any
	require.NoError(t, json.Unmarshal(raw, &document))
	properties := map[string]bool{}
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				collect(one)
			}
		case map[string]any:
			if named, ok := v["properties"].(map[string]any); ok {
				for name := range named {
					properties[name] = true
				}
			}
			for _, one := range v {
				collect(one)
			}
		}
	}
	collect(document)
	read := 0
	root := os.DirFS("../remote")
	require.NoError(t, fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := fs.ReadFile(root, path)
		for _, m := range jsonTag.FindAllStringSubmatch(string(code), -1) {
			read++
			require.True(t, properties[m[1]] || own[m[1]] != "", "%s reads %s, which no answer has", path, m[1])
		}
		return err
	}))
	require.Greater(t, read, 150)
}

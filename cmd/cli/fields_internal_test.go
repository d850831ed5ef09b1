package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// own are fields of answers that the command line makes itself.
var own = map[string]string{
	"server": "context list", "current": "context list",
	"times": "job get, which asks for the next fires, too",
	"data":  "job get, as it was written",
	"bar":   "schedule load, which draws it",
	"found": "job delete, which found the job before",
}

// fieldRead finds the fields that code names: in a tag, or in a question to an object.
var fieldRead = regexp.MustCompile("(?:`json:|[.](?:Text|Texts|Int|Float|Is|Has|Took|List|At|Inner)[(])\"([A-Za-z0-9.]+)")

// view finds the columns of a table, the fields of a description, and sentences with blanks.
var view = regexp.MustCompile(`(?s)(?:Columns:|Fields:|Each:|described =|Done:|Table\(|Each\(|Said\(|Below\(|Describe\(|Sentence\(|Say\(|Note\(|Finish\(|said\()\s*` +
	`("(?:[^"\\]|\\.)*"(?:\s*\+\s*"(?:[^"\\]|\\.)*")*)`)

// blank is a place of a sentence.
var blank = regexp.MustCompile(`\{([^}]+)\}`)

// word finds the names that a package gives to texts of several fields.
var word = regexp.MustCompile(`(?m)^\s*(?:\}, )?"([a-z ]+)":|Words\{"([a-z ]+)":`)

// viewed are the fields that a view names, but for the words of its package.
func viewed(text string, words map[string]bool) (fields []string) {
	text = regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(text, "")
	parts := strings.Split(strings.Trim(text, `"`), ",")
	if blank.MatchString(text) {
		parts = nil
		for _, m := range blank.FindAllStringSubmatch(text, -1) {
			parts = append(parts, m[1])
		}
	}
	for _, part := range parts {
		name := strings.TrimSpace(part)
		if _, after, named := strings.Cut(name, "="); named {
			name = after
		}
		name, _, _ = strings.Cut(name, "|")
		if !words[name] && name != "0" && name != "1" && name != "found" && !strings.Contains(name, " ") {
			fields = append(fields, strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '/' })...)
		}
	}
	return fields
}

// The fields that the tables read are in the document of the API: a field that gets another
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
	root := os.DirFS("../remote")
	words := map[string]map[string]bool{}
	require.NoError(t, fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		code, err := fs.ReadFile(root, path)
		for _, m := range word.FindAllStringSubmatch(string(code), -1) {
			if words[filepath.Dir(path)] == nil {
				words[filepath.Dir(path)] = map[string]bool{}
			}
			words[filepath.Dir(path)][m[1]+m[2]] = true
		}
		return err
	}))
	read := 0
	require.NoError(t, fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := fs.ReadFile(root, path)
		var names []string
		for _, m := range fieldRead.FindAllStringSubmatch(string(code), -1) {
			names = append(names, strings.Split(m[1], ".")...)
		}
		for _, m := range view.FindAllStringSubmatch(string(code), -1) {
			names = append(names, viewed(m[1], words[filepath.Dir(path)])...)
		}
		for _, name := range names {
			read++
			require.True(t, name == "" || properties[name] || own[name] != "", "%s reads %q, which no answer has", path, name)
		}
		return err
	}))
	require.Greater(t, read, 400)
}

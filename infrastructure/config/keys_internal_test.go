package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysStayApartWithoutCaseAndUnderscores(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range names() {
		require.Empty(t, seen[plain(name)], name)
		seen[plain(name)] = name
	}
	for name, full := range seen {
		require.Empty(t, seen[name+"file"], "%s: a secret's file could not be told from a key", full)
	}
}

// leaves are the values of a configuration by their paths, such as Server.TLS.CertFile.
func leaves(c *Config) map[string]any {
	out := map[string]any{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.Kind() != reflect.Struct {
			out[path[1:]] = v.Addr().Interface()
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				walk(path+"."+f.Name, v.Field(i))
			}
		}
	}
	walk("", reflect.ValueOf(c).Elem())
	return out
}

// Each field has the row of its name, and each row its field.
func TestEveryFieldHasItsRow(t *testing.T) {
	t.Parallel()
	var c Config
	rows := map[string]any{}
	for _, k := range c.keys() {
		rows[plain(k.name)] = k.at
	}
	fields := leaves(&c)
	for path, field := range fields {
		require.NotNil(t, rows[plain(path)], "the field %s has no row of its name in keys.go", path)
		require.Same(t, field, rows[plain(path)], "the row of %s in keys.go has another field", path)
	}
	require.Len(t, rows, len(fields))
}

// A setting that no program reads does nothing.
func TestEverySettingIsRead(t *testing.T) {
	t.Parallel()
	var source []byte
	for _, root := range []string{"../../cmd", "../../infrastructure"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				filepath.Base(filepath.Dir(path)) == "config" {
				return err
			}
			text, err := os.ReadFile(path)
			source = append(source, text...)
			return err
		}))
	}
	for path := range leaves(&Config{}) {
		name := path[strings.LastIndex(path, ".")+1:]
		require.True(t, regexp.MustCompile(`\.`+name+`\b`).Match(source), "no program reads %s", path)
	}
}

func TestDefaultsPassTheirOwnTable(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{ProfileStandalone, ProfileCluster} {
		c := Defaults(profile)
		for _, k := range c.keys() {
			v := k.show()
			if items, ok := v.([]string); ok {
				list := make([]any, len(items))
				for i, s := range items {
					list[i] = s
				}
				v = list
			}
			if m, ok := v.(map[string]string); ok {
				require.Empty(t, m)
				continue
			}
			require.NoError(t, k.assign(v), k.name)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("server:\n  addr: ':1'\n", "PS_LOG_LEVEL=x")
	f.Fuzz(func(t *testing.T, file, env string) {
		var problems Problems
		values, _ := readEnviron([]string{env}, &problems)
		c := Defaults(ProfileStandalone)
		for _, k := range c.keys() {
			if v, ok := values[k.name]; ok {
				_ = k.assign(v)
			}
			_ = k.assign(file)
		}
		_ = c.problems()
		_ = c.Masked()
	})
}

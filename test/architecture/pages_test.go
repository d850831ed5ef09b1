package architecture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// named is a file or a folder of this tree in a page: in code, with a slash in it.
var named = regexp.MustCompile("`((?:[A-Za-z0-9_.-]+/)+(?:[A-Za-z0-9_-]+\\.(?:go|sh|ya?ml|json|sql|service))?|(?:api|application|cmd|configs|deploy|domain|infrastructure|sdk|sql|test|tools)(?:/[A-Za-z0-9_-]+)+)`")

// others are named in pages and are no part of the tree.
var others = map[string]bool{
	"work/":              true, // of a data folder
	"application/yaml":   true, // types of content
	"application/x-yaml": true,
}

// Pages name files and folders by the end of their path.
func TestThePagesNameFilesThatThereAre(t *testing.T) {
	root := os.DirFS("../..")
	var paths strings.Builder
	require.NoError(t, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == ".git" || name == ".cache" || name == "node_modules") {
			return fs.SkipDir
		}
		paths.WriteString("/" + path + "\n")
		return nil
	}))
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	found := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if path := strings.TrimSuffix(m[1], "/"); !others[m[1]] {
				found++
				require.True(t, strings.Contains(paths.String(), "/"+path+"\n"), "%s names %s", page, m[1])
			}
		}
	}
	require.Greater(t, found, 100)
}

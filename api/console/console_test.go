package console_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/console"
)

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func TestABuildWithoutAPageIsRefused(t *testing.T) {
	_, err := console.New(fstest.MapFS{"assets/a.js": file("a")})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestABuildWithNamesThatNobodyCanAskForIsRefused(t *testing.T) {
	for _, name := range []string{"assets/a b.js", "assets/ä.js", "assets/" + strings.Repeat("a", 65)} {
		_, err := console.New(fstest.MapFS{"index.html": file("x"), name: file("a")})
		require.ErrorContains(t, err, "cannot stand in an address", name)
	}
}

func TestOnlyFilesOfABuildAreKnown(t *testing.T) {
	site, err := console.New(fstest.MapFS{
		"index.html": file("x"), ".gitkeep": file(""), "favicon.svg": file("<svg/>"), "favicon.svg.br": file("b"),
		"assets/a.js": file("a"), "assets/a.js.gz": file("z"), "assets/.hidden": file("h"), "assets/deep/b.js": file("b"),
		"index.html.br": file("p"),
	})
	require.NoError(t, err)
	require.Equal(t, []string{"assets/a.js", "favicon.svg"}, site.Names())
}

func TestABuildMayHaveNoAssets(t *testing.T) {
	site, err := console.New(fstest.MapFS{"index.html": file("x")})
	require.NoError(t, err)
	require.Empty(t, site.Names())
}

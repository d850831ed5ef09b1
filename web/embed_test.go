package web_test

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/web"
)

func TestAConsoleIsThereOnlyWithItsPage(t *testing.T) {
	t.Parallel()
	files, built := web.Files()
	if !built {
		require.Nil(t, files)
		require.Contains(t, string(web.Placeholder), "make console")
		return
	}
	page, err := fs.ReadFile(files, "index.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "__CSP_NONCE__")
	require.False(t, bytes.Contains(page, []byte(" style=")), "a strict policy refuses inline styles")
	assets, err := fs.ReadDir(files, "assets")
	require.NoError(t, err)
	require.NotEmpty(t, assets)
}

//go:build linux

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const firstHour = "../../docs/workers/first-hour.md"

// TestTheFirstHourWithWorkersWorksAsItStands runs the worker of the page in shell, then those in Go and Python.
func TestTheFirstHourWithWorkersWorksAsItStands(t *testing.T) {
	b := startBinary(t)
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	command := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", asServer, self)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "platform-scheduler"), []byte(command), 0o700))
	out := walkIn(t, dir, firstHour, []string{"bash", "curl", "jq", "python3"},
		"PATH="+dir+":"+os.Getenv("PATH"), "SERVER="+b.url, "DATA_DIR="+b.dir)
	require.Contains(t, out, "\nhello you\n", "the line of the log")
	require.Contains(t, out, "the run succeeded")
	require.Equal(t, "DOWN", b.worker("shop", "sh").Status, "it has left")

	page, err := os.ReadFile(firstHour)
	require.NoError(t, err)
	program := func(language, name string) string {
		block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(string(page))
		require.NotNil(t, block, language)
		text := strings.ReplaceAll(block[1], "http://127.0.0.1:8080", b.url)
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	sdk, err := filepath.Abs("../../sdk/python")
	require.NoError(t, err)
	for language, command := range map[string][]string{
		"go":     {build(t, program("go", "hello.go"))},
		"python": {"python3", program("python", "hello.py")},
	} {
		p := launch(t, dir, []string{"PYTHONPATH=" + sdk}, command...)
		var job struct{ Items []struct{ ID string } }
		b.must(200, http.MethodGet, "/api/v1/jobs?name=greet", nil, &job)
		require.Len(t, job.Items, 1)
		id := b.triggered(job.Items[0].ID, map[string]any{"name": language})
		require.Equal(t, "SUCCESS", b.ends(id).Status, p.said)
		require.Equal(t, []string{"hello " + language}, b.lines(id))
		p.terminate()
		require.Zero(t, p.exit(), p.said)
		require.Equal(t, "DOWN", b.worker("shop", language).Status)
	}
}

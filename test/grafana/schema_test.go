package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var schema = flag.Bool("grafana.schema", false,
	"check the dashboards with tsc against @grafana/schema, which npm downloads")

// The dashboards have the types of Grafana's own schema. They were never opened in Grafana here.
func TestTheDashboardsKeepGrafanasSchema(t *testing.T) {
	if !*schema {
		return // make grafana-schema asks for it
	}
	folder := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "check.ts"} {
		text, err := os.ReadFile(filepath.Join("schema", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	require.NoError(t, err, out)
	tsc := func(dashboards map[string]string) (string, error) {
		args := []string{
			"--noEmit", "--strict", "--skipLibCheck", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target",
			"es2022",
		}
		for name, text := range dashboards {
			file := name + ".ts"
			require.NoError(t, os.WriteFile(filepath.Join(folder, file),
				[]byte("import type { Checked } from './check.js';\nexport const dashboard: Checked = "+text+";\n"), 0o600))
			args = append(args, file)
		}
		return run(filepath.Join(folder, "node_modules", ".bin", "tsc"), args...)
	}
	all, err := files()
	require.NoError(t, err)
	good := map[string]string{}
	for name, text := range all {
		good[strings.TrimSuffix(name, ".json")] = string(text)
	}
	out, err = tsc(good)
	require.NoError(t, err, out)

	// A field that the schema lacks is found.
	const uid = "ps-overview"
	for n, wrong := range [][2]string{
		{`"showLegend": true`, `"showLegends": true`},
		{`"displayMode": "table"`, `"displayMode": "wide"`},
		{`"graphMode": "none"`, `"graphMode": true`},
		{`"type": "stat"`, `"type": "star"`},
		{`"refresh": "30s"`, `"refreshes": "30s"`},
		{`"drawStyle": "line"`, `"drawStyle": "dots"`},
	} {
		require.Contains(t, good[uid], wrong[0])
		out, err := tsc(map[string]string{fmt.Sprint("wrong-", n): strings.Replace(good[uid], wrong[0], wrong[1], 1)})
		require.Error(t, err, "tsc takes %s", wrong[1])
		require.Contains(t, out, "error TS", wrong[1])
	}
}

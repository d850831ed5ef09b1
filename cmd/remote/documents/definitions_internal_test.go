package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/difference"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
)

// However jobs are cut into calls: each goes once, calls stay small, and where
// others are deleted no call holds a part of a group.
func TestChunksHoldEachEntryOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &definitions{}
		for i := range rapid.IntRange(0, 900).Draw(t, "jobs") {
			d.jobs = append(d.jobs, entry{group: fmt.Sprint("g", rapid.IntRange(0, 5).Draw(t, "group")), name: fmt.Sprint(i)})
		}
		for i := range rapid.IntRange(0, 8).Draw(t, "groups") {
			d.groups = append(d.groups, entry{name: fmt.Sprint("g", i)})
		}
		whole := rapid.Bool().Draw(t, "whole")
		jobs, groups, of := map[string]int{}, map[string]int{}, map[string]map[int]bool{}
		for n, c := range d.chunks(whole) {
			biggest := map[string]int{}
			for _, j := range c.jobs {
				jobs[j.name]++
				biggest[j.group]++
				if of[j.group] == nil {
					of[j.group] = map[int]bool{}
				}
				of[j.group][n] = true
			}
			for _, g := range c.groups {
				groups[g.name]++
			}
			if !whole {
				require.LessOrEqual(t, len(c.jobs), maxChunk)
			}
		}
		require.Len(t, jobs, len(d.jobs))
		require.Len(t, groups, len(d.groups))
		for name, times := range jobs {
			require.Equal(t, 1, times, name)
		}
		for name, times := range groups {
			require.Equal(t, 1, times, name)
		}
		for group, calls := range of {
			require.True(t, !whole || len(calls) == 1, group)
		}
	})
}

func TestColoursAreForTerminals(t *testing.T) {
	v := vo.Import{Items: []vo.ImportItem{
		{Group: "g", Name: "a", Action: "CREATE"},
		{Group: "g", Name: "b", Action: "UPDATE", Changes: map[string][2]any{"priority": {json.Number("5"), 9}}},
		{Group: "g", Name: "c", Action: "DELETE", Error: &vo.ImportError{Message: "no"}},
		{Group: "g", Name: "d", Action: "UNCHANGED"},
	}, Failed: 1}
	var out, errOut bytes.Buffer
	report{Printer: difference.Printer{Out: &out}, err: &errOut}.show(v)
	require.Equal(t, "+ create g/a\n~ update g/b\n    priority: 5 → 9\n- delete g/c\n= unchanged g/d\n0 created, 0 "+
		"updated, 0 unchanged, 0 deleted, 1 failed\n", out.String())
	require.Equal(t, "g/c: no\n", errOut.String())
	out.Reset()
	report{Printer: difference.Printer{Out: &out, Colour: true}, err: &errOut}.show(v)
	require.Contains(t, out.String(), "\x1b[32m+ create g/a\x1b[0m\n")
	require.Contains(t, out.String(), "priority: \x1b[31m5\x1b[0m → \x1b[32m9\x1b[0m")
	require.Contains(t, out.String(), "\n= unchanged")
	require.False(t, terminal.Colourful(&out, ""), "a file has no colours")
}

func TestABarIsShownWhereItIsWanted(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, 4)
	p.step()
	p.clear()
	require.Empty(t, out.String(), "not in a file")
	p = &progress{out: &out, total: 4}
	p.step()
	require.Equal(t, "\r[#######.......................]  25 %", out.String())
	p.clear()
	require.True(t, strings.HasSuffix(out.String(), " \r"))
}

func TestAGroupsFileStaysInItsFolder(t *testing.T) {
	for group, file := range map[string]string{
		"pay": "pay", "a b": "a b", "../../etc/x": "%2E.%2F..%2Fetc%2Fx",
		".": "%2E", "50%": "50%25",
	} {
		require.Equal(t, file, fileName(group))
	}
}

// A secret of a channel stands in a file beside, where a line break at its end is no part of it, and nothing else is
// cut off. Each file that is missing or empty is named with its place, all at once.
func TestSecretsOfChannelsAreReadFromFiles(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"unix": " canary \n", "windows": "canary\r\n", "two": "a\nb\n\n", "empty": "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	read := func(config string) (string, error) {
		file := filepath.Join(folder, "alerts.yaml")
		config = strings.ReplaceAll(config, "DIR", folder)
		text := "version: 1\nalerting: {channels: [{name: c, config: " + config + "}]}\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		d, err := readDefinitions(file, nil)
		if err != nil {
			return "", err
		}
		var channel struct{ Config json.RawMessage }
		require.NoError(t, json.Unmarshal(d.settings["channels"][0].raw, &channel))
		return string(channel.Config), nil
	}
	for config, want := range map[string]string{
		"{to: x, password: {file: DIR/unix}}":          `{"to": "x", "password": " canary "}`,
		"{password: {file: DIR/windows}}":              `{"password": "canary"}`,
		"{headers: [{value: {file: DIR/two}}, plain]}": `{"headers": [{"value": "a\nb\n"}, "plain"]}`,
		"{body: {file: DIR/none, more: 1}}":            `{"body": {"file": "` + folder + `/none", "more": 1}}`,
	} {
		got, err := read(config)
		require.NoError(t, err, config)
		require.JSONEq(t, want, got, config)
	}
	_, err := read("{password: {file: DIR/none}, token: {file: DIR/empty}}")
	at := filepath.Join(folder, "alerts.yaml") + ": alerting.channels[0] (c): config."
	require.ErrorContains(t, err, at+"password: open "+folder+"/none: no such file or directory")
	require.ErrorContains(t, err, at+"token: the file "+folder+"/empty is empty")
}

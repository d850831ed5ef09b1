//go:build linux

package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

func TestTheFolderOfTheOwnGroupIsFound(t *testing.T) {
	const v1 = "30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	for name, c := range map[string]struct{ mounts, own, want string }{
		"unified": {
			"31 25 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
			"0::/system.slice/scheduler.service\n", "/sys/fs/cgroup/system.slice/scheduler.service",
		},
		"hybrid": {
			v1 + "31 25 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "9:memory:/x\n0::/\n",
			"/sys/fs/cgroup/unified",
		},
		"container": {
			"31 25 0:27 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/abc/inner\n",
			"/sys/fs/cgroup/inner",
		},
		"other part":    {"31 25 0:27 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/other\n", ""},
		"outside":       {"31 25 0:27 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/../other\n", ""},
		"version 1":     {v1, "9:memory:/x\n", ""},
		"not mounted":   {v1, "0::/x\n", ""},
		"nothing known": {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := groupFolder(c.mounts, c.own)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want == "", err != nil)
		})
	}
}

// tree is a folder that looks like a group with controllers, as far as files can.
func tree(t *testing.T) *Groups {
	t.Helper()
	base := t.TempDir()
	g := &Groups{
		base: base, name: "platform-scheduler-n-", own: filepath.Join(base, "platform-scheduler-n-7"),
		MemoryBound: true, ProcessesBound: true,
	}
	require.NoError(t, os.Mkdir(g.own, 0o755))
	return g
}

func TestAGroupHoldsTheLimitsOfItsRun(t *testing.T) {
	g := tree(t)
	dir := filepath.Join(g.own, "1-1")
	got, err := g.Open("1-1", command.Limits{MemoryMb: 64, Processes: 9, CPUSec: 3})
	require.NoError(t, err)
	require.Equal(t, dir, got)
	require.Equal(t, []string{"67108864", "1", "9"}, []string{
		readLine(filepath.Join(dir, "memory.max")), readLine(filepath.Join(dir, "memory.oom.group")),
		readLine(filepath.Join(dir, "pids.max")),
	})
	_, err = g.Open("1-1", command.Limits{})
	require.Error(t, err, "a group is one run's")
	_, err = g.Open("1-2", command.Limits{})
	require.NoError(t, err)
	require.Equal(t, "4096", readLine(filepath.Join(g.own, "1-2", "pids.max")), "a fork bomb has its bound")
	require.NoFileExists(t, filepath.Join(g.own, "1-2", "memory.max"))
	require.Equal(t, command.Limits{CPUSec: 3}, g.Rest(command.Limits{MemoryMb: 64, Processes: 9, CPUSec: 3}))
	require.Equal(t, command.Limits{MemoryMb: 64}, (*Groups)(nil).Rest(command.Limits{MemoryMb: 64}))
	g.MemoryBound = false
	require.Equal(t, command.Limits{MemoryMb: 64}, g.Rest(command.Limits{MemoryMb: 64, Processes: 9}))
}

func TestTheGroupsOfOtherLivesAreKnown(t *testing.T) {
	g := tree(t)
	for _, name := range []string{
		"platform-scheduler-n-5", "platform-scheduler-n-x", "platform-scheduler-n-other-5",
		"platform-scheduler-m-5",
	} {
		require.NoError(t, os.Mkdir(filepath.Join(g.base, name), 0o755))
	}
	require.Equal(t, []string{filepath.Join(g.base, "platform-scheduler-n-5")}, g.Former())
	for _, name := range []string{"1-1", "1-2", "11-1"} {
		require.NoError(t, os.MkdirAll(filepath.Join(g.own, name, "inner"), 0o755))
	}
	require.Equal(t, []string{filepath.Join(g.own, "1-1"), filepath.Join(g.own, "1-2")}, g.Runs(1))
	require.Equal(t, []string{filepath.Join(g.own, "1-1"), filepath.Join(g.own, "1-1", "inner")},
		treeOf(filepath.Join(g.own, "1-1")))
	for _, dir := range g.Runs(1) {
		Remove(dir)
	}
	require.Empty(t, g.Runs(1))
	require.Len(t, g.Runs(11), 1)
}

func TestTheEndOfMemoryIsReadFromTheGroup(t *testing.T) {
	dir := t.TempDir()
	require.False(t, OutOfMemory(dir))
	for text, want := range map[string]bool{
		"low 0\noom 0\noom_kill 0\n": false,
		"low 0\noom 1\noom_kill 2\n": true,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "memory.events"), []byte(text), 0o600))
		require.Equal(t, want, OutOfMemory(dir))
	}
}

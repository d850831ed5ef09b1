package app

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
)

func TestABuildKnowsWhatItIs(t *testing.T) {
	const noted = "fedcba9876543210fedcba9876543210fedcba98"
	vcs := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: noted}, {Key: "vcs.time", Value: "2026-01-01T00:00:00Z"},
	}}
	module := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}}
	for name, c := range map[string]struct {
		info  *debug.BuildInfo
		given vo.Version
		want  vo.Version
	}{
		"nothing": {nil, vo.Version{}, vo.Version{Version: "devel"}},
		"a repository": {vcs, vo.Version{}, vo.Version{
			Version: noted[:12], Commit: noted, BuildTime: "2026-01-01T00:00:00Z",
			GoVersion: "go1.26",
		}},
		"a module": {module, vo.Version{}, vo.Version{Version: "v1.2.3", GoVersion: "go1.26"}},
		"an image": {
			&debug.BuildInfo{GoVersion: "go1.26"},
			vo.Version{Version: "1.2.3", Commit: "abc", BuildTime: "now"},
			vo.Version{Version: "1.2.3", Commit: "abc", BuildTime: "now", GoVersion: "go1.26"},
		},
		"a commit alone": {nil, vo.Version{Commit: noted}, vo.Version{Version: noted[:12], Commit: noted}},
		"given wins": {
			vcs,
			vo.Version{Version: "1", Commit: "2", BuildTime: "3"},
			vo.Version{Version: "1", Commit: "2", BuildTime: "3", GoVersion: "go1.26"},
		},
	} {
		require.Equal(t, c.want, buildOf(c.info, c.given), name)
	}
	require.Equal(t, Build().Version, Version())
}

package fault_test

import (
	"context"
	"flag"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// formerRelease is the commit of the release before this one.
const formerRelease = "ecf3e51"

var upgrade = flag.Bool("fault.upgrade", false,
	"build the former release and replace it node by node; needs its commit in the history")

// TestARollingUpgrade runs nodes of the former release beside new ones under load,
// and replaces them one by one. A process of the other release that is started under
// a node's id is refused, whichever of the two is the newer one.
func TestARollingUpgrade(t *testing.T) {
	if !*upgrade {
		t.Log("NOT TESTED here: the rolling upgrade from the former release, see make upgrade")
		return
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "cat-file", "-e", formerRelease+"^{commit}").
		CombinedOutput()
	require.NoError(t, err, "NOT TESTED: the former release %s is not in the history of this clone; clone it whole: %s",
		formerRelease, out)
	replace := func(node int, after time.Duration) fault.Round {
		return fault.Round{Blows: []fault.Blow{{Kind: fault.Upgrade, Node: node}}, Rest: after}
	}
	second := func(node int) fault.Round {
		return fault.Round{Blows: []fault.Blow{{Kind: fault.Twin, Node: node}}, Rest: time.Second}
	}
	const span = 20 * time.Second
	test := &fault.Test{
		Terms: fault.Terms{Nodes: 3}, Rounds: []fault.Round{
			{Rest: span},
			second(0),
			replace(0, span), second(0), second(1),
			replace(1, span),
			replace(2, span), second(2),
		},
		For: 10 * time.Minute, Size: crash.Size{Copies: 1, Fill: 20, Former: true}, Logf: t.Logf,
	}
	dir := folder(t, time.Now().UnixNano())
	options := fault.Options(dir, 3)
	test.Server, err = rig.StartServer(t.Context(), root, filepath.Join(dir, "services"), "redis")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, test.Server.Down(context.Background())) })
	options.DSN, options.Redis = test.Server.DSN, test.Server.Redis
	options.Binary, err = rig.Build(t.Context(), dir)
	require.NoError(t, err)
	options.Former, err = rig.BuildFormer(t.Context(), root, formerRelease, dir)
	require.NoError(t, err)
	run(t, test, options)
}

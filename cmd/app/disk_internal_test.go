package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
)

const gib = 1 << 30

func TestADiskWithLittleRoomIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		used, size uint64
		want       string
	}{
		"half":                      {10 * gib, 20 * gib, ""},
		"a tenth of a small disk":   {90 << 20, 100 << 20, ""},
		"little of a small disk":    {96 << 20, 100 << 20, "4 MiB of 100 MiB left"},
		"full":                      {gib, gib, "0 MiB of 1024 MiB left"},
		"two GiB of a large disk":   {998 * gib, 1000 * gib, ""},
		"half a GiB of a large one": {1000*gib - gib/2, 1000 * gib, "512 MiB of 1024000 MiB left"},
		"it cannot be read":         {0, 0, ""},
	} {
		r := &room{read: func() (used, size uint64) { return c.used, c.size }, full: func() string { return "" }}
		reason, _ := r.Trouble()
		require.Empty(t, reason, "nobody has looked yet")
		require.NoError(t, r.RunOnce(t.Context()))
		reason, blocks := r.Trouble()
		require.False(t, blocks)
		if c.want == "" {
			require.Empty(t, reason, name)
		} else {
			require.Contains(t, reason, c.want, name)
		}
	}
}

// Room that is made again is seen at the next look.
func TestADiskIsLookedAtAgain(t *testing.T) {
	used := uint64(gib)
	r := &room{read: func() (uint64, uint64) { return used, gib }, full: func() string { return "" }}
	require.NoError(t, r.RunOnce(t.Context()))
	reason, _ := r.Trouble()
	require.NotEmpty(t, reason)
	used = 0
	require.NoError(t, r.RunOnce(t.Context()))
	reason, _ = r.Trouble()
	require.Empty(t, reason)
}

func TestAStoreWithoutRoomIsNamed(t *testing.T) {
	r := &room{full: func() string { return "Error 1114 (HY000): The table 'scheduler_job' is full" }}
	reason, blocks := r.Trouble()
	require.Contains(t, reason, "Error 1114")
	require.False(t, blocks, "beats decide whether the node works")
	require.Contains(t, alarming([]monitor.Trouble{{Part: partDisk, Reason: reason}}), partDisk, "DEGRADED tells of it")
}

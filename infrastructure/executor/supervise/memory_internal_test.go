//go:build linux

package supervise

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyCleanMappingsOfFilesAreDropped(t *testing.T) {
	block := func(head, anonymous string) string {
		return head + "\nSize:  600 kB\nRss: 100 kB\nAnonymous:         " + anonymous + " kB\nVmFlags: rd mr\n"
	}
	smaps := block("00400000-0049a000 r-xp 00000000 08:01 123 /usr/bin/server", "0") +
		block("0049a000-004ff000 r--p 0009a000 08:01 123 /usr/bin/server", "0") +
		block("004ff000-00510000 rw-p 000ff000 08:01 123 /usr/bin/server", "0") +
		block("7f0000000000-7f0000004000 r--p 001d3000 08:01 9 /lib/libc.so.6", "16") +
		block("7f0000010000-7f0000014000 r--s 00000000 08:01 9 /shared", "0") +
		block("7f0000020000-7f0000024000 r--p 00000000 00:00 0", "0") +
		block("7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]", "0") +
		block("7f0000030000-7f0000034000 ---p 00000000 08:01 9 /lib/libc.so.6", "0") +
		"7f0000040000-7f0000044000 r--p 00000000 08:01 9 /cut"
	require.Equal(t, []mapping{{0x400000, 0x9a000}, {0x49a000, 0x65000}}, droppable(smaps))
	require.Empty(t, droppable("nonsense\n\n-\nAnonymous: 0 kB\n"))
}

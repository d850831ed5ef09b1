package connect

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A connection of SQLite has a pool of small buffers of its own ("lookaside"), which spares
// it the allocator and its lock. Prepared statements fill the 40 buffers of the default, and
// each row written then goes to the allocator for each of its texts.
const (
	lookasideBytes   = 1200 // SQLite's own size of a buffer
	lookasideBuffers = 400  // 480 KB a connection, of which there are at most six
)

// widenLookaside gives the connections opened from now on more of these buffers, and tells
// whether it did: SQLite takes this only before the first connection of a process. A
// later connection keeps the default, which costs speed alone.
var widenLookaside = sync.OnceValue(func() bool {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.Xmalloc(tls, 2*uint64(unsafe.Sizeof(uintptr(0))))
	if args == 0 {
		return false
	}
	defer libc.Xfree(tls, args)
	return sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_LOOKASIDE,
		libc.VaList(args, int32(lookasideBytes), int32(lookasideBuffers))) == sqlite3.SQLITE_OK
})

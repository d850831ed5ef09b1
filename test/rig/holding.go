package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OpenTo is how many sockets a process has open to an address. Another process under the same id, which is about to be
// refused, has the same way to the store and sockets of its own. The proxy behind it may hold more: in a black hole it
// does not see that the other side has hung up.
func OpenTo(proc, addr string) int {
	_, port, _ := strings.Cut(addr, ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		return 0
	}
	held := map[string]bool{} // by inode
	files, _ := os.ReadDir(filepath.Join(proc, "fd"))
	for _, f := range files {
		name, _ := os.Readlink(filepath.Join(proc, "fd", f.Name()))
		if inode, is := strings.CutPrefix(name, "socket:["); is {
			held[strings.TrimSuffix(inode, "]")] = true
		}
	}
	table, _ := os.ReadFile(filepath.Join(proc, "net/tcp"))
	return countTo(string(table), number, held)
}

// countTo counts the connections of a table to a port whose inodes are held. The kernel writes the table page by page:
// while many connections come and go it names some of them again, so each inode counts once.
func countTo(table string, port int, held map[string]bool) (open int) {
	for row := range strings.Lines(table) {
		// sl, local address, remote address, state, five more, inode; 01 is ESTABLISHED.
		fields := strings.Fields(row)
		if len(fields) > 9 && fields[3] == "01" && strings.HasSuffix(fields[2], fmt.Sprintf(":%04X", port)) &&
			held[fields[9]] {
			delete(held, fields[9])
			open++
		}
	}
	return open
}

// Resident is the memory of a process in bytes; 0 when it cannot be read.
func Resident(proc string) int64 {
	text, err := os.ReadFile(filepath.Join(proc, "statm"))
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

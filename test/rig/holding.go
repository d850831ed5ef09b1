package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OpenTo is how many sockets are open to an address. The proxy behind it
// may hold more: in a black hole it does not see that the other side has hung up.
func OpenTo(addr string) int {
	_, port, _ := strings.Cut(addr, ":")
	number, err := strconv.Atoi(port)
	table, readErr := os.ReadFile("/proc/net/tcp")
	if err != nil || readErr != nil {
		return 0
	}
	open := 0
	for row := range strings.Lines(string(table)) {
		// sl, local address, remote address, state; 01 is ESTABLISHED.
		fields := strings.Fields(row)
		if len(fields) > 3 && fields[3] == "01" && strings.HasSuffix(fields[2], fmt.Sprintf(":%04X", number)) {
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

//go:build linux

package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Alive lists the nasty processes that write to a ledger, by number and kind.
func Alive(ledger string) map[int]string {
	out := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		args := bytes.Split(data, []byte{0})
		if len(args) < 4 || string(args[1]) != NastyCommand || string(args[3]) != ledger {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			out[pid] = string(args[2])
		}
	}
	return out
}

// HelperOf finds the helper of a node: its child with that argument.
func HelperOf(node int, argument string) (pid int) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(node) + "/task/*/children")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for child := range strings.FieldsSeq(string(data)) {
			line, err := os.ReadFile("/proc/" + child + "/cmdline")
			if args := strings.Split(string(line), "\x00"); err == nil && len(args) > 1 && args[1] == argument {
				pid, _ = strconv.Atoi(child)
			}
		}
	}
	return pid
}

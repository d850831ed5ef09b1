package command

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrHelperLost ends the wait for a process whose helper died or froze. What
// the helper had started was killed before the error is returned.
var ErrHelperLost = errors.New("the helper that ran the command is gone")

// What stands against the start of a process, seen as its user.
var (
	ErrFolder  = errors.New("the folder to work in cannot be entered")
	ErrProgram = errors.New("the program is not there, or is not executable")
)

// Limits bound one run; zero is no limit of its own.
type Limits struct {
	// CPUSec is processor time of one process, in seconds.
	CPUSec int64
	// MemoryMb is the address space of one process, in MiB.
	MemoryMb int64
	// OpenFiles bounds the descriptors of one process.
	OpenFiles int64
	// FileMb is the size of one file that is written, in MiB.
	FileMb int64
	// Processes bounds the processes of the user that runs it.
	Processes int64
}

// Account is the user a process runs as.
type Account struct {
	Name string
	// Change says that it is another than the server's own.
	Change   bool
	UID, GID uint32
	Groups   []uint32
}

// Order is everything a helper needs to start one process.
type Order struct {
	// ID marks every process of the run: execution, attempt and token.
	ID      string
	Path    string
	Argv    []string
	Env     []string
	Dir     string
	Account Account
	Limits  Limits
	// Stdout and Stderr are the writing ends of pipes. The starter closes them,
	// also when it fails.
	Stdout, Stderr *os.File
}

// Exit is how a process ended.
type Exit struct {
	Code int
	// Signal ended it when not zero; Code means nothing then.
	Signal syscall.Signal
	// CPU is what the process and those it waited for have used.
	CPU time.Duration
	// Memory is the most that was in use at once, in bytes: of the run where its
	// control group tells, else of the largest process.
	Memory int64
	// OutOfMemory: the kernel ended it, or a part of it, at its memory limit.
	OutOfMemory bool
}

// Process is a run that was started. Safe for concurrent use.
type Process interface {
	// Stop signals the process, its group and every descendant.
	Stop(signal syscall.Signal) error
	// Wait returns when the process has been reaped and no descendant of it is
	// left. It is called once.
	Wait() (Exit, error)
}

// Starter starts processes outside this one. An error is ErrFolder or
// ErrProgram where it is about these.
type Starter interface {
	Start(ctx context.Context, order Order) (Process, error)
}

package command

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrHelperLost ends the wait for a process whose helper died or froze. All that the helper had
// started was killed before.
var ErrHelperLost = errors.New("the helper that ran the command is gone")

// The errors of a start, from the view of the user of the process.
var (
	ErrFolder  = errors.New("the folder to work in cannot be entered")
	ErrProgram = errors.New("the program is not there, or is not executable")
)

// Limits bound one run; 0 is no limit of its own.
type Limits struct {
	// CPUSec bounds the processor time of one process, in seconds.
	CPUSec int64
	// MemoryMb bounds the address space of one process, in MiB.
	MemoryMb int64
	// OpenFiles bounds the descriptors of one process.
	OpenFiles int64
	// FileMb bounds the size of a file that the run writes, in MiB.
	FileMb int64
	// Processes bounds the processes of the user that runs the command.
	Processes int64
}

// Account is the user that a process runs as.
type Account struct {
	Name string
	// Change is true when this is another user than the server's own.
	Change   bool
	UID, GID uint32
	Groups   []uint32
}

// Order is all that a helper needs to start one process.
type Order struct {
	// ID marks every process of the run: execution, attempt and token.
	ID      string
	Path    string
	Argv    []string
	Env     []string
	Dir     string
	Account Account
	Limits  Limits
	// Stdout and Stderr are the writing ends of pipes. The starter closes them, also when it
	// fails.
	Stdout, Stderr *os.File
}

// Exit describes the end of a process.
type Exit struct {
	Code int
	// Signal ended the process when it is not 0; then Code means nothing.
	Signal syscall.Signal
	// CPU is the processor time of the process and of the processes that it waited for.
	CPU time.Duration
	// Memory is the most memory in use at once, in bytes: of the run where its control group
	// tells, otherwise of the largest process.
	Memory int64
	// OutOfMemory means that the kernel ended the process, or a part of it, at its memory limit.
	OutOfMemory bool
}

// Process is a started run. Safe for concurrent use.
type Process interface {
	// Stop signals the process, its group and every descendant.
	Stop(signal syscall.Signal) error
	// Wait returns when the process was reaped and no descendant of it is left. Call it once.
	Wait() (Exit, error)
}

// Starter starts processes outside this one. Its error is ErrFolder or ErrProgram when the
// folder or the program is the cause.
type Starter interface {
	Start(ctx context.Context, order Order) (Process, error)
}

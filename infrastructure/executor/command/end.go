package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// outcome returns the outcome of an end. The status of a process after a signal to stop does not
// count: the cause of the stop decides.
func outcome(exit Exit, signalled bool, err error, d definition, out, errs *stream) entity.Outcome {
	tail, _ := out.end()
	_, said := errs.end()
	o := entity.Failed(entity.ReasonError, "")
	switch {
	case errors.Is(err, ErrHelperLost):
		return entity.Failed(entity.ReasonNodeLost, err.Error())
	case err != nil:
		return entity.Failed(entity.ReasonError, err.Error())
	case signalled:
		o.Message = said
	case exit.Signal == 0 && slices.Contains(d.success, exit.Code):
		o = entity.Succeeded(tail)
		o.ExitCode = &exit.Code
	default:
		if exit.Signal == 0 {
			o.ExitCode = &exit.Code
		}
		o.Message = d.limits.reached(exit, said)
		if o.Message == "" {
			o.Message = how(exit)
			if exit.Signal == 0 {
				o.Reason = entity.ReasonExitCode
			}
		}
		if said != "" {
			o.Message += ": " + said
		}
	}
	o.Result = tail
	return o
}

// how describes the end of a process in words.
func how(exit Exit) string {
	if exit.Signal != 0 {
		return "ended by signal " + exit.Signal.String()
	}
	return fmt.Sprintf("ended with exit code %d", exit.Code)
}

// reached names the limit that ended a process and how much it had used. It is empty when no
// limit did, or when that cannot be known.
func (l Limits) reached(exit Exit, said string) string {
	switch {
	case exit.OutOfMemory:
		return fmt.Sprintf("it needed more memory than its limit of %d MiB (jobData.memoryMb%s)", l.MemoryMb, exit.inUse())
	case l.CPUSec > 0 && exit.by(syscall.SIGXCPU), l.CPUSec > 0 && exit.by(syscall.SIGKILL) &&
		exit.CPU >= time.Duration(l.CPUSec)*time.Second:
		return fmt.Sprintf("%s: it used up its limit of %d s of processor time for a process (jobData.cpuSec; %.1f s were "+
			"used in all)", how(exit), l.CPUSec, exit.CPU.Seconds())
	case l.FileMb > 0 && exit.by(syscall.SIGXFSZ):
		return fmt.Sprintf("%s: it wrote a file over its limit of %d MiB (jobData.fileMb)", how(exit), l.FileMb)
	case l.MemoryMb > 0 && lacksMemory(said):
		return fmt.Sprintf("%s: it got no more memory; its limit is %d MiB (jobData.memoryMb%s)", how(exit), l.MemoryMb,
			exit.inUse())
	}
	return ""
}

// by reports whether a signal ended the process, or a process that it waited for. Shells report
// the latter by the code 128 plus the signal.
func (e Exit) by(s syscall.Signal) bool {
	return e.Signal == s || e.Signal == 0 && e.Code == 128+int(s)
}

func (e Exit) inUse() string {
	if e.Memory == 0 {
		return ""
	}
	return fmt.Sprintf("; at most %d MiB were in use", e.Memory>>20)
}

// noMemory are the messages of programs and languages that could not get memory.
var noMemory = []string{
	"cannot allocate memory", "can't allocate memory", "memoryerror", "out of memory",
	"outofmemory", "bad_alloc", "memory exhausted", "enomem",
}

// lacksMemory reports whether a process could not get memory. Where its address space is
// limited, only the process itself knows.
func lacksMemory(said string) bool {
	text := strings.ToLower(said)
	return slices.ContainsFunc(noMemory, func(phrase string) bool { return strings.Contains(text, phrase) })
}

package supervise

import (
	"cmp"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise/cgroup"
)

// members returns the processes in the run's control group.
func (r *run) members() []int {
	if r.group == "" {
		return nil
	}
	return cgroup.Members(r.group)
}

// reap takes the ends of children, and checks what ended commands left.
func (h *helper) reap() {
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, &usage)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		h.ended(pid, status, usage)
	}
	if len(h.runs) == 0 {
		return
	}
	orphans := h.orphans()
	for number, r := range h.runs {
		if r.exit == nil {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(orphans), func(pid int) bool { return !h.belongs(pid, r) })
		left = append(left, r.members()...)
		if len(left) == 0 {
			if r.group != "" {
				r.exit.OOM = cgroup.OutOfMemory(r.group)
				r.exit.Memory = cmp.Or(cgroup.PeakMemory(r.group), r.exit.Memory)
				cgroup.Remove(r.group)
			}
			h.tell(*r.exit)
			delete(h.runs, number)
			continue
		}
		h.clear(r, left)
	}
}

func (h *helper) ended(pid int, status syscall.WaitStatus, usage syscall.Rusage) {
	for _, r := range h.runs {
		if r.pid != pid || r.exit != nil {
			continue
		}
		r.exit = &message{
			Verb: didExit, Run: r.number,
			CPUMs: (usage.Utime.Nano() + usage.Stime.Nano()) / int64(time.Millisecond), Memory: usage.Maxrss << 10,
		}
		if status.Signaled() {
			r.exit.Signal = int(status.Signal())
		} else {
			r.exit.Code = status.ExitStatus()
		}
		r.ended = h.clock.Monotonic()
	}
}

// clear ends what a command left behind: with TERM first, and with KILL after the grace.
func (h *helper) clear(r *run, left []int) {
	all := left
	for _, pid := range left {
		all = append(all, descendantsOf(pid)...)
	}
	switch {
	case h.clock.Monotonic()-r.ended > leftoverGrace:
		signalAll(all, syscall.SIGKILL)
		if r.group != "" {
			cgroup.Kill(r.group)
		}
	case !r.warned:
		r.warned = true
		signalAll(all, syscall.SIGTERM)
	}
}

// orphans returns the children of the helper that are no commands. Commands left them when
// they, or a process between, ended.
func (h *helper) orphans() []int {
	return slices.DeleteFunc(childrenOf(os.Getpid()), func(pid int) bool {
		for _, r := range h.runs {
			if r.pid == pid && r.exit == nil {
				return true
			}
		}
		return false
	})
}

func (h *helper) orphansOf(r *run) []int {
	var out []int
	for _, pid := range h.orphans() {
		if h.belongs(pid, r) {
			out = append(append(out, pid), descendantsOf(pid)...)
		}
	}
	return out
}

// belongs reports whether an orphan belongs to a run: by its mark, or by its group when it hid
// the mark. An orphan that hid both belongs to every ended run, because no run may leave an
// unknown process behind.
func (h *helper) belongs(pid int, r *run) bool {
	if mark := markOf(pid, runMark); mark != "" {
		return mark == r.mark
	}
	group, err := syscall.Getpgid(pid)
	if err != nil {
		return false // it is gone, or a zombie that the next look reaps
	}
	for _, other := range h.runs {
		if group == other.pid {
			return other == r
		}
	}
	return r.exit != nil
}

// killAll ends all started processes, however often they fork.
func (h *helper) killAll() {
	timer := h.clock.NewTimer(time.Millisecond)
	defer timer.Stop()
	defer func() {
		for _, r := range h.runs {
			if r.group != "" {
				cgroup.Remove(r.group)
			}
		}
	}()
	for {
		for _, r := range h.runs {
			if r.group != "" {
				cgroup.Kill(r.group)
			}
		}
		found := killTree(os.Getpid())
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD && found == 0 {
				return
			}
			if err != nil || pid <= 0 {
				break
			}
		}
		<-timer.C()
		timer.Reset(time.Millisecond)
	}
}

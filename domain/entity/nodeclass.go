package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// SlotKind is a kind of slots of a node. A run of one kind never holds a slot of
// another.
type SlotKind uint8

// The kinds of slots: those of HTTP calls and of handlers, and those of commands.
const (
	SlotGeneral SlotKind = iota
	SlotCommand
	slotKinds
)

// SlotKinds lists the kinds.
func SlotKinds() []SlotKind { return []SlotKind{SlotGeneral, SlotCommand} }

// String is the kind as the API names it.
func (k SlotKind) String() string {
	if k == SlotCommand {
		return "COMMAND"
	}
	return "GENERAL"
}

// Slots counts slots by their kind.
type Slots [slotKinds]int

// Total is the number of all kinds together.
func (s Slots) Total() int {
	n := 0
	for _, of := range s {
		n += of
	}
	return n
}

// NodeClass is what a run asks of the node, or of the worker, that takes it. The zero class asks
// for nothing: any executor will do.
type NodeClass struct {
	// Workers is the worker group whose workers alone take the run; empty for nodes.
	Workers string
	// Labels are those that it must carry, all of them.
	Labels map[string]string
	// Command: it must run commands.
	Command bool
	// Handler is the one that it must have; empty for those that are built in.
	Handler string
}

// NodeClassOf is what the runs of a job ask for.
func NodeClassOf(j *Job) NodeClass {
	c := NodeClass{Workers: j.Routing.Workers, Labels: j.Routing.Labels, Command: j.Type == JobCommand}
	if j.Type == JobHTTP && c.Workers != "" {
		c.Handler = HTTPHandler
	}
	if j.Type == JobCustom && (c.Workers != "" || !BuiltIn(j.Class)) {
		c.Handler = j.Class
	}
	return c
}

// Anything reports whether every executor is fit.
func (c NodeClass) Anything() bool {
	return c.Workers == "" && len(c.Labels) == 0 && !c.Command && c.Handler == ""
}

// Kind is the slots that runs of the class need.
func (c NodeClass) Kind() SlotKind {
	if c.Command {
		return SlotCommand
	}
	return SlotGeneral
}

// SlotKind is the slots that runs of the job need.
func (j *Job) SlotKind() SlotKind {
	if j.Type == JobCommand {
		return SlotCommand
	}
	return SlotGeneral
}

// mark is what the names of the class's queues begin with.
func (c NodeClass) mark() string {
	switch {
	case c.Command:
		return markCommand
	case c.Handler != "":
		return markHandler
	}
	return ""
}

// hash names the class in keys: 16 hex digits. That of labels alone is the
// former release's.
func (c NodeClass) hash() string {
	if c.mark() == "" && c.Workers == "" {
		return labelHash(c.Labels)
	}
	h := sha256.New()
	if c.Workers != "" {
		_, _ = fmt.Fprintf(h, "%s%d:%s", markWorkers, len(c.Workers), c.Workers)
	}
	_, _ = fmt.Fprintf(h, "%s%d:%s", c.mark(), len(c.Handler), c.Handler)
	writeLabels(h, c.Labels)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// HTTPHandler is the name under which workers offer to make HTTP calls. No job may have it as its class. Commands need
// no such name: a worker that offers slots for them runs them.
const HTTPHandler = "@http"

// BuiltInHandlers are the handlers that every executor has, in order.
func BuiltInHandlers() []string { return []string{"echo", "fail", "log", "noop", "sleep"} }

// BuiltIn reports whether every executor has the handler. No handler at all
// counts as one: validation refuses it.
func BuiltIn(handler string) bool {
	switch handler {
	case "", "echo", "fail", "log", "noop", "sleep":
		return true
	}
	return false
}

package entity

import "time"

// TodoKind says what a Todo is.
type TodoKind string

// The kinds of todos.
const (
	// TodoNext is of an execution whose end may start other jobs.
	TodoNext TodoKind = "NEXT"
	// TodoRun is of a workflow run that goes on; its Item says why.
	TodoRun TodoKind = "RUN"
)

// Todo is something that a stored change owes. The transaction that makes the change adds it, the one that does it
// deletes it.
type Todo struct {
	// Run is the execution that owes it; Item tells several of one kind apart.
	Run  string
	Kind TodoKind
	Item string
	// Time is when it came to be, by the store's clock.
	Time time.Time
}

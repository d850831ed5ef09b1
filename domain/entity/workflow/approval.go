package workflow

import (
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ApprovalType is that of steps that wait for people. No node runs them.
const ApprovalType entity.JobType = "APPROVAL"

// The bounds of what is stored of an approval, in bytes.
const (
	MaxAskedText = 16_000
	MaxComment   = 2000
)

// Ballot is an approval that has opened: what people are asked, and which of them have a vote. The execution of the
// step says whether it is decided.
type Ballot struct {
	// ExecutionID is that of the step, StepKey its key in the run.
	ExecutionID, RunID, WorkflowID, StepKey string
	Text                                    string
	Need                                    int
	OnTimeout                               OnTimeout
	// Excluded is the id of the user who triggered the run and may not vote; empty is nobody.
	Excluded string
	// Voters are ids of users, as they were when it opened; nil is each one who holds the permission when voting.
	Voters     []string
	OpenedTime time.Time
	// Until is when OnTimeout decides.
	Until time.Time
}

// ByPermission reports whether those vote who hold the permission.
func (b *Ballot) ByPermission() bool { return b.Voters == nil }

// Names reports whether a user has a vote by name.
func (b *Ballot) Names(userID string) bool {
	return userID != b.Excluded && slices.Contains(b.Voters, userID)
}

// Decision is the word of one person.
type Decision string

// The words.
const (
	Approved Decision = "APPROVE"
	Rejected Decision = "REJECT"
)

// Decisions lists the words.
func Decisions() []Decision { return []Decision{Approved, Rejected} }

// Vote is the word of one person about a Ballot. User is the name that the person had then.
type Vote struct {
	ExecutionID, UserID, User string
	Decision                  Decision
	Comment                   string
	Time                      time.Time
}

// Approvals counts the votes that approve.
func Approvals(votes []Vote) (n int) {
	for _, v := range votes {
		if v.Decision == Approved {
			n++
		}
	}
	return n
}

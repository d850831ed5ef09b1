package workflow

import (
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Verdict is what an approval comes to. An open one has no status.
type Verdict struct {
	Status  entity.Status
	Reason  entity.Reason
	Message string
}

// Count says what an approval comes to by its votes: enough that approve settle it, and one that rejects.
func Count(b *wf.Ballot, votes []wf.Vote) Verdict {
	for _, v := range votes {
		if v.Decision == wf.Rejected {
			message := "rejected by " + v.User
			if v.Comment != "" {
				message += ": " + v.Comment
			}
			return Verdict{entity.StatusFailed, entity.ReasonRejected, message}
		}
	}
	if wf.Approvals(votes) >= b.Need {
		return Verdict{Status: entity.StatusSuccess}
	}
	return Verdict{}
}

// Expire says what an approval comes to that was not decided in time.
func Expire(b *wf.Ballot) Verdict {
	switch b.OnTimeout {
	case wf.TimeoutApproves:
		return Verdict{Status: entity.StatusSuccess}
	case wf.TimeoutFails:
		return Verdict{entity.StatusFailed, entity.ReasonTimeout, expired(b)}
	}
	return Verdict{entity.StatusFailed, entity.ReasonRejected, expired(b)}
}

func expired(b *wf.Ballot) string {
	return fmt.Sprintf("not decided until %s", b.Until.UTC().Format("2006-01-02T15:04:05Z"))
}

// HasVote reports whether a user has a vote. holds says whether the user holds the permission now.
func HasVote(b *wf.Ballot, userID string, holds bool) bool {
	if b.ByPermission() {
		return holds && userID != b.Excluded
	}
	return b.Names(userID)
}

package request

import (
	"net/http"
	"strings"
	"unicode/utf8"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// maxComment bounds what a person adds to what it asks for, in characters.
const maxComment = 500

// comment looks at such a text.
func (f *faults) comment(field, text string) {
	switch {
	case utf8.RuneCountInString(text) > maxComment:
		f.add(field, "too_long", "must be at most %d characters", maxComment)
	case strings.ContainsRune(text, 0):
		f.add(field, "invalid", "must have no NUL")
	}
}

// VoteBody is the body of POST /approvals/{id}.
type VoteBody struct {
	Decision string `json:"decision" enums:"APPROVE,REJECT"`
	Comment  string `json:"comment,omitempty" maxLength:"500"`
}

// ReadVote reads the body of POST /approvals/{id}.
func ReadVote(r *http.Request) (wf.Vote, error) {
	body, err := readBody(r, func(body *VoteBody, f *faults) {
		switch d := wf.Decision(body.Decision); {
		case d == wf.Approved, d == wf.Rejected, f.has("decision"):
		case d == "":
			f.add("decision", "required", "must be APPROVE or REJECT")
		default:
			f.add("decision", "unknown", "must be APPROVE or REJECT")
		}
		f.comment("comment", body.Comment)
	})
	return wf.Vote{Decision: wf.Decision(body.Decision), Comment: body.Comment}, err
}

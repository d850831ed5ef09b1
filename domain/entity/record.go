package entity

import "time"

// LogType marks the origin of log lines.
type LogType string

// The kinds of log rows.
const (
	LogStdout   LogType = "STDOUT"
	LogStderr   LogType = "STDERR"
	LogSystem   LogType = "SYSTEM"
	LogEvidence LogType = "EVIDENCE"
)

// LogChunk is consecutive lines of one attempt, stored as one row. Lines are
// separated by \n; SeqFrom and SeqTo are the inclusive numbers of the lines,
// counted from 1 within the execution. A line that the next one of its type and
// attempt replaces ends in \r.
type LogChunk struct {
	ID          string
	JobID       string
	ExecutionID string
	Attempt     int
	Type        LogType
	SeqFrom     int64
	SeqTo       int64
	Content     string
	// Truncated: lines after this chunk were cut because the cap was reached.
	Truncated  bool
	CreateTime time.Time
}

// Attempt is the record of an attempt that a retry replaced in the row.
type Attempt struct {
	ExecutionID  string
	Attempt      int
	Status       Status
	Reason       Reason
	NodeID       string
	StartTime    time.Time
	EndTime      time.Time
	ErrorMessage string
	Result       string
	Progress     int
	// ExitCode is as that of an Execution.
	ExitCode *int
	// Usage is stored apart, see repository.RecordWriter.
	Usage Usage
}

// LatestAttempt is the one that the row itself tells of; false when none has
// begun.
func (e *Execution) LatestAttempt() (a Attempt, ok bool) {
	if e.Attempt == 0 {
		return a, false
	}
	a = Attempt{
		ExecutionID: e.ID, Attempt: e.Attempt, Status: e.Status, Reason: e.Reason, NodeID: e.NodeID, StartTime: e.StartTime,
		EndTime:      e.EndTime,
		ErrorMessage: e.ErrorMessage, Result: e.Result, Progress: e.Progress, ExitCode: e.ExitCode,
	}
	if a.Status == StatusDead { // of the run: the attempt itself failed, or ran out of time
		a.Status = StatusFailed
		if a.Reason == ReasonTimeout {
			a.Status = StatusTimeout
		}
	}
	return a, true
}

// DeadLetter points to a run whose retries are used up and that waits for a
// person to replay or discard it.
type DeadLetter struct {
	ExecutionID string
	JobID       string
	Reason      Reason
	Message     string
	// ReplayedAs is the run that a replay made; empty while untouched.
	ReplayedAs string
	CreateTime time.Time
}

// User may sign in. PasswordHash is an argon2id string.
type User struct {
	ID           string
	Name         string
	PasswordHash string
	Role         Role
	Rights
	// MustChangePassword: somebody else knows the password, who made it up or set it.
	MustChangePassword bool
	CreateTime         time.Time
	UpdateTime         time.Time
}

// Rights bind and widen what a role may do.
type Rights struct {
	// Groups are the groups of jobs that the user sees, with the role held in
	// each; nil is every group, with the user's role. A role here never widens
	// the user's.
	Groups map[string]Role
	// Commands is the right to define jobs that run commands. An admin has it
	// in any case.
	Commands bool
	// Secrets is the right of an operator to make secrets for the groups in which
	// the user is one. An admin has it in any case, for all groups.
	Secrets bool
}

// Role bundles permissions.
type Role string

// The roles.
const (
	RoleAdmin    Role = "admin"
	RoleOperator Role = "operator"
	RoleViewer   Role = "viewer"
	// RoleDisabled holds nothing, and its users cannot sign in.
	RoleDisabled Role = "disabled"
)

// Session is a signed-in user; only the hash of its token is kept.
type Session struct {
	TokenHash  string
	UserID     string
	ExpiresAt  time.Time
	CreateTime time.Time
}

// IdempotentCall is a stored answer (engine rule 2). Scope is user and route.
type IdempotentCall struct {
	Scope    string
	Key      string
	BodyHash string
	// Status is the HTTP status of the kept answer; 0 while in progress.
	Status     int
	Body       string
	CreateTime time.Time
}

// LinesPerAttempt spaces the line numbers of attempts: attempt k starts at
// (k−1)·LinesPerAttempt+1. So the numbers grow over attempts on any node without a
// look at the store.
const LinesPerAttempt = 1_000_000

// LineNumber is that of the n-th line of an attempt, both counted from 1.
func LineNumber(attempt int, n int64) int64 { return int64(max(attempt-1, 0))*LinesPerAttempt + n }

const (
	// MaxLogLine is the longest line of a log that is kept, in bytes.
	MaxLogLine = 8 << 10
	// LogChunkBytes is the size from which lines begin a new LogChunk.
	LogChunkBytes = 32 << 10
	// MaxCheckpoint bounds a checkpoint, in bytes.
	MaxCheckpoint = 64 << 10
)

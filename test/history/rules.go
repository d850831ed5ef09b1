package history

// The rules that are checked, each with the invariant that it is part of.
const (
	RuleDoubleRow     = "I1: one row for each job, fire and shard"
	RuleMissingFire   = "I1: every planned fire is recorded"
	RuleDecidedTwice  = "I1: every planned fire is decided once"
	RuleExtraFire     = "I1: no fire is recorded that was not planned"
	RuleEarly         = "I1: nothing starts before its time"
	RuleNoResume      = "I1: firing resumes within 10 s of a node's death"
	RuleDoubleAttempt = "I2: each attempt is made at most once"
	RuleTokenFell     = "I2: fencing tokens never fall"
	RuleOverlap       = "I2: runs that exclude each other do not overlap"
	RuleTwoAttempts   = "I2: an attempt begins when the former one has lost its right"
	RuleLimit         = "I2: a limit of runs holds"
	RuleShortRest     = "I2: a fixed delay is kept"
	RuleRanAgain      = "I2: what must not run again after a loss does not"
	RuleUnseenSuccess = "I3: a success is the one of its last attempt, and the target saw it"
	RuleFalseFailure  = "I3: a failure is the one of its last attempt, and the target saw it"
	RuleChanged       = "I3: what is final stays"
	RuleLostTrigger   = "I4: an acknowledged trigger has exactly one run"
	RuleServerError   = "I4: the API answers, or says that it cannot"
	RuleStop          = "I6: a process ends only when asked to, and with 0"
	RuleStuck         = "I7: nothing is stuck"
	RuleNoReason      = "I7: what did not succeed has a reason"
	RuleEarlyDead     = "I7: retries are used up before a run is dead"
	RuleLateRetry     = "I7: runs of dead nodes go on within 15 s"
	RuleFenced        = "I2: a node that can run code stops before others take its work"
	RuleNoHarm        = "I2: what takes no node's lease stops nobody"
	RuleDeleted       = "I2: nothing begins of a job that is deleted"
	RuleWrongNode     = "I2: a run begins only where its handler is"
	RuleOwnReason     = "I3: a reason is the one of its own attempt"
	RuleNoCause       = "I7: what waits says for what"
	RuleLeftover      = "I7: no place outlives its fire"
	RuleLogs          = "I8: output is kept whole, in order and with its attempt"
	RuleNotFollowed   = "I9: an end starts what follows it"
	RuleFollowedTwice = "I9: an end starts nothing twice, and nothing else"
	RuleMissingShard  = "I10: every shard of a fire is recorded"
	RuleStatistics    = "I11: statistics equal the rows"
	RuleMembers       = "I12: epochs never fall, and every node comes back"
	RuleTwin          = "I12: no second process takes over an id that beats"
	RuleUnbounded     = "I13: what a node holds is bounded"
)

// Rules lists all of them.
func Rules() []string {
	return []string{
		RuleDoubleRow, RuleMissingFire, RuleDecidedTwice, RuleExtraFire, RuleEarly, RuleNoResume, RuleDoubleAttempt,
		RuleTokenFell,
		RuleOverlap, RuleTwoAttempts, RuleLimit, RuleShortRest, RuleRanAgain, RuleUnseenSuccess, RuleFalseFailure,
		RuleChanged, RuleLostTrigger, RuleServerError,
		RuleStop, RuleStuck, RuleNoReason, RuleEarlyDead, RuleLateRetry, RuleLogs, RuleMissingShard, RuleMembers,
		RuleTwin, RuleUnbounded, RuleFenced, RuleNoHarm, RuleDeleted, RuleWrongNode, RuleOwnReason, RuleNoCause, RuleLeftover,
		RuleStatistics, RuleNotFollowed, RuleFollowedTwice,
	}
}

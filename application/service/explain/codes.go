package explain

import (
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The codes of what is not a fire of the ledger.
const (
	NotDue         Code = "NOT_DUE"
	AfterPause     Code = "AFTER_PAUSE"
	Undecided      Code = "UNDECIDED"
	NoScheduler    Code = "NO_SCHEDULER"
	AllStandBy     Code = "STANDBY"
	NoSchedule     Code = "NO_SCHEDULE"
	Deleted        Code = "DELETED"
	Disabled       Code = "DISABLED"
	JobPaused      Code = "PAUSED"
	GroupPaused    Code = "GROUP_PAUSED"
	AllPaused      Code = "ALL_PAUSED"
	Finished       Code = "FINISHED"
	OnceOver       Code = "ONCE_OVER"
	NotCreated     Code = "NOT_CREATED"
	BeforeStart    Code = "BEFORE_START"
	AfterEnd       Code = "AFTER_END"
	NotInSchedule  Code = "NOT_IN_SCHEDULE"
	GapOfClocks    Code = "DST_GAP"
	GapMoved       Code = "DST_GAP_MOVED"
	OverlapOfClock Code = "DST_OVERLAP"
	AfterRun       Code = "AFTER_RUN"
	BadSchedule    Code = "BAD_SCHEDULE"
	NoRecord       Code = "NO_RECORD"
	TooOld         Code = "TOO_OLD"
	NoSuchTime     Code = "NO_SUCH_TIME"
	// Range is a range of fires that were not run; the code of the answer is their reason.
	Range Code = "RANGE"
)

// The codes of facts alone.
const (
	FactAlert          Code = "ALERT"
	FactChanged        Code = "CHANGED"
	FactBefore         Code = "FIRE_BEFORE"
	FactNext           Code = "NEXT_FIRE"
	FactNextNamed      Code = "NEXT_IN_SCHEDULE"
	FactNextPaused     Code = "NEXT_FIRE_AFTER_PAUSE"
	FactNoNext         Code = "NO_NEXT_FIRE"
	FactJitter         Code = "JITTER"
	FactLatestEnded    Code = "LATEST_RUN_ENDED"
	FactLatestWaits    Code = "LATEST_RUN_WAITS"
	FactLatestRuns     Code = "LATEST_RUN_RUNS"
	FactRunEnded       Code = "RUN_ENDED"
	FactRunOn          Code = "RUN_ON_NODE"
	FactRunDetached    Code = "RUN_DETACHED"
	FactRunStopping    Code = "RUN_STOPPING"
	FactRunBefore      Code = "RUN_IN_THE_WAY"
	FactRunStill       Code = "RUN_STILL_IN_THE_WAY"
	FactNodeAway       Code = "NODE_AWAY"
	FactNodeLost       Code = "NODE_WAS_LOST"
	FactNodePlans      Code = "NODE_PLANS"
	FactNodeMeant      Code = "NODE_MEANT"
	FactNodeSlots      Code = "NODE_SLOTS"
	FactNodeFitsAway   Code = "NODE_FITS_AWAY"
	FactMoreNodes      Code = "MORE_NODES"
	FactNoNodeUp       Code = "NO_NODE_UP"
	FactWorkers        Code = "WORKERS"
	FactWorkersForeign Code = "WORKERS_OF_OTHERS"
	FactWorkersRefuse  Code = "WORKERS_WITHOUT_COMMANDS"
	FactWorkersBlind   Code = "WORKERS_WITHOUT_SECRETS"
	FactNoNodeFits     Code = "NO_NODE_FITS"
	FactNobodyFires    Code = "NOBODY_FIRES"
	FactStandsBy       Code = "NODES_STAND_BY"
	FactNodeStandsBy   Code = "NODE_STANDS_BY"
	FactAsksCommands   Code = "ASKS_FOR_COMMANDS"
	FactAsksHandler    Code = "ASKS_FOR_HANDLER"
	FactAsksLabel      Code = "ASKS_FOR_LABEL"
	FactAsksMore       Code = "ASKS_FOR_MORE"
	FactJobLimit       Code = "JOB_LIMIT"
	FactGroupLimit     Code = "GROUP_LIMIT"
	FactMaxQueued      Code = "MAX_QUEUED"
	FactOverlapPolicy  Code = "OVERLAP_POLICY"
	FactGivenUpAt      Code = "GIVEN_UP_AT"
	FactStartDeadline  Code = "START_DEADLINE"
	FactAttempts       Code = "ATTEMPTS"
	FactHeldBack       Code = "HELD_BACK"
	FactNextAttempt    Code = "NEXT_ATTEMPT"
	FactBeginsAt       Code = "BEGINS_AT"
	FactReplay         Code = "REPLAYED"
	FactLate           Code = "LATE"
	FactServerDown     Code = "SERVER_WAS_DOWN"
	FactGapLeftOut     Code = "GAP_LEFT_OUT"
	FactGapMoved       Code = "GAP_MOVED"
	FactGapRunsOn      Code = "GAP_RUNS_ON"
	FactFireThen       Code = "FIRE_THEN"
	FactMadeLater      Code = "MADE_LATER"
	FactField          Code = "CRON_FIELD"
	FactMisfireRan     Code = "MISFIRE_RAN"
	FactMisfirePolicy  Code = "MISFIRE_POLICY"
	FactPausedNow      Code = "PAUSED_NOW"
	FactGroupPausedNow Code = "GROUP_PAUSED_NOW"
	FactAllPausedNow   Code = "ALL_PAUSED_NOW"
	FactDisabledNow    Code = "DISABLED_NOW"
	FactFinishedNow    Code = "FINISHED_NOW"
	FactStartedBy      Code = "STARTED_BY"
	FactStarted        Code = "STARTED"
	FactNotStarted     Code = "NOT_STARTED"
	FactNotFollowed    Code = "NOT_FOLLOWED"
	FactOwed           Code = "TO_BE_STARTED"
	FactFollows        Code = "FOLLOWS"
)

// Sentence is one thing that an answer can say.
type Sentence struct {
	// Verdict is empty for facts.
	Verdict Verdict
	// Code is empty where all other codes of the verdict are said so: a status, a reason, what a run waits for.
	Code Code
	// Text is in English. {name} stands for a parameter; what is in brackets is left out where one in it is missing.
	// Of (one|many) behind a number the first is said of 1.
	Text string
}

const (
	notPlanned = "no fire of the job is planned for {time}: "
	wasNot     = "no fire of the job was planned for {time}: "
	paused     = "paused[ by {user}][: {pauseReason}] since {since}[, until {until}][; it would have fired {skipped} " +
		"(time|times) so far]"
	clocksJump  = "the clocks of {timeZone} jump by {jumpMs} to {change} on that day, and "
	shard       = "[shard {shardIndex} of {shardTotal}: ]"
	onNode      = "[ on node {nodeId}]"
	inTheWay    = "in the way was the run {runId} of {time}: it began at {startTime}" + onNode + ", and "
	finishedNow = "the last time that its schedule names has passed"
)

// Sentences lists what answers say: those of verdicts, then those of facts.
func Sentences() []Sentence {
	return append([]Sentence{
		{Fired, "SUCCESS", "the fire of {time} was run, {latenessMs} late, and succeeded"},
		{Fired, "CANCELLED", "the fire of {time} was cancelled[, {reason}]"},
		{Fired, "", "the fire of {time} was run, {latenessMs} late, and ended as {status}[, {reason}]"},
		{Running, "", "the fire of {time} runs, {latenessMs} late"},
		{Waiting, "", "the fire of {time} {waitsFor}"},
		{Skipped, Range, "the {fires} fires from {time} to before {rangeEnd} were not run, {reason}"},
		{Skipped, "", "the fire of {time} was not run, {reason}"},
		{Planned, NotDue, "the fire of {time} is still to come[, in {inMs}]"},
		{Planned, AfterPause, "the fire of {time} is still to come, once the pause has ended"},
		{Overdue, Undecided, "the fire of {time} is due since {overdueMs}, and no scheduler has decided about it"},
		{Overdue, NoScheduler, "the fire of {time} is due since {overdueMs}, and no scheduler is there to decide about it"},
		{Overdue, AllStandBy, "the fire of {time} is due since {overdueMs}, and nobody decides about it, because the nodes " +
			"stand by"},
		{NotPlanned, NoSchedule, "the job has no schedule: it runs when it is triggered"},
		{NotPlanned, Deleted, "the job was deleted: nothing of it is planned any more"},
		{NotPlanned, NotCreated, wasNot + "the job was made at {createTime}"},
		{NotPlanned, Disabled, notPlanned + "the job is not enabled"},
		{NotPlanned, JobPaused, notPlanned + "the job is " + paused},
		{NotPlanned, GroupPaused, notPlanned + "the group {group} is " + paused},
		{NotPlanned, AllPaused, notPlanned + "every job is " + paused},
		{NotPlanned, BadSchedule, "no fire of the job can be planned: its schedule cannot be read: {error}"},
		{NotPlanned, BeforeStart, notPlanned + "its schedule begins at {startTime} (startTime)"},
		{NotPlanned, AfterEnd, notPlanned + "its schedule ended at {endTime} (endTime)"},
		{NotPlanned, OnceOver, notPlanned + "its schedule has one fire, of {at}"},
		{NotPlanned, Finished, notPlanned + finishedNow},
		{NotPlanned, AfterRun, "no fire of the job is known for {time}: each is planned when the run before it has ended " +
			"(FIXED_DELAY)"},
		{NotPlanned, GapOfClocks, wasNot + clocksJump + "the schedule leaves out times that do not exist (dstGap SKIP)"},
		{NotPlanned, GapMoved, wasNot + clocksJump + "the fire of a time that does not exist is of that moment (dstGap " +
			"NEXT_VALID)"},
		{NotPlanned, OverlapOfClock, wasNot + "the clocks of {timeZone} are put back on that day, and the schedule fires " +
			"at the first of two equal times alone (dstOverlap FIRST)"},
		{NotPlanned, NotInSchedule, wasNot + "its schedule, {schedule}, does not name that time"},
		{NotPlanned, NoSuchTime, "{wallTime} does not exist in {timeZone}: its clocks jump by {jumpMs} to {change}"},
		{Unknown, TooOld, "what became of the fire of {time} is not known: runs are kept for {keptDays} (day|days)"},
		{Unknown, NoRecord, "the schedule names {time}, and nothing is recorded for it: the schedule may have been " +
			"changed, or the job enabled, after that time"},

		{"", FactNext, "its next fire is of {time}[, and starts at {startTime}]"},
		{"", FactNextNamed, "the next time that it names is {time}"},
		{"", FactNextPaused, "its next fire is of {time}, once the pause has ended"},
		{"", FactNoNext, "it has no next fire until it is resumed"},
		{"", FactJitter, "the jitter of the job moves its start by {jitterMs}, to {startTime}"},
		{"", FactLatestEnded, "its latest run, {runId}, ended as {status}[, {reason}]"},
		{"", FactLatestWaits, "its latest run, {runId}, {waitsFor}"},
		{"", FactLatestRuns, "its latest run, {runId}, runs"},
		{"", FactRunEnded, shard + "the run {runId} began at {startTime}" + onNode + ", and took {durationMs}"},
		{"", FactRunOn, "the run {runId} is" + onNode + " since {startTime}"},
		{"", FactRunDetached, "the run {runId} has no node: its target works, and reports the end"},
		{"", FactRunStopping, "the run {runId} is asked to stop"},
		{"", FactRunBefore, inTheWay + "ended at {endTime}"},
		{"", FactRunStill, inTheWay + "goes on"},
		{"", FactNodeAway, "node {nodeId} is {status}[, its last beat was at {lastHeartbeat}]: once it is given up, " +
			"onNodeLoss {onNodeLoss} decides"},
		{"", FactNodeLost, shard + "[node {nodeId} was lost while it ran attempt {attempt}]" +
			"[a node that ran it was lost, {times} (time|times)]"},
		{"", FactNodePlans, "node {nodeId} plans it; it is {status}, its last beat was at {lastHeartbeat}"},
		{"", FactNobodyFires, "no scheduler is up: nobody fires jobs"},
		{"", FactStandsBy, "the nodes stand by since {since}, so that nobody fires or runs jobs: {standbyReason}"},
		{"", FactNodeStandsBy, "node {nodeId} stands by; its part standby of /readyz says why"},
		{"", FactNodeMeant, "it is meant for node {nodeId}, which is {status}; the runs of a node that is DOWN go to others"},
		{"", FactNodeSlots, "node {nodeId} is {status}, with {taken} of {slots} slots taken"},
		{"", FactMoreNodes, "and {count} (node|nodes) more may take it"},
		{"", FactNoNodeUp, "no node that may take it is up"},
		{
			"",
			FactWorkers,
			"of the worker group {workers} {count} (worker is|workers are) up; {fit} of them can run it, with " +
				"{free} of {slots} slots free",
		},
		{
			"",
			FactWorkersForeign,
			"there is no worker group {workers} that serves the group {group}: an administrator can let it, or the job name " +
				"another one",
		},
		{
			"",
			FactWorkersRefuse,
			"the worker group {workers} has no right to run commands: an administrator can give it, or the job name " +
				"another one",
		},
		{
			"",
			FactWorkersBlind,
			"the job names secrets, and the worker group {workers} gets none: an administrator can allow it",
		},
		{"", FactNodeFitsAway, "node {nodeId} has it, and is {status} since {since}"},
		{"", FactNoNodeFits, "{count} (executor is|executors are) up, and none of them has it"},
		{"", FactAsksCommands, "the job asks for a node that runs commands"},
		{"", FactAsksHandler, "the job asks for the handler {handler}"},
		{"", FactAsksLabel, "the job asks for the label {key}={value}"},
		{"", FactAsksMore, "the job asks for {count} (label|labels) more"},
		{"", FactJobLimit, "the job lets {limit} (fire|fires) run at once; its overlap policy is {overlapPolicy}"},
		{"", FactGroupLimit, "the group {group} lets {limit} (fire|fires) run at once (maxConcurrency)"},
		{"", FactMaxQueued, "maxQueued of the job is {maxQueued}"},
		{"", FactOverlapPolicy, "the overlap policy of the job is {overlapPolicy}"},
		{"", FactGivenUpAt, "it is given up at {time}, by startDeadlineSec {startDeadlineSec}"},
		{"", FactStartDeadline, "startDeadlineSec of the job is {startDeadlineSec}"},
		{"", FactAttempts, shard + "it took {attempts} (attempt|attempts)"},
		{
			"",
			FactHeldBack,
			shard + "it was held back {times} (time|times), for {heldMs} in all: calls in a row could not connect to its " +
				"target",
		},
		{"", FactNextAttempt, "attempt {attempt} ended[ ({reason})]; the next one begins at {time}"},
		{"", FactBeginsAt, "it may begin at {time}"},
		{"", FactReplay, "it was repeated by hand, {times} (time|times); the latest run is {runId}"},
		{"", FactLate, shard + "it began {latenessMs} after it was due: it waited for a slot, a node, its group or its job"},
		{"", FactServerDown, shard + "it was due while the server was down, or could not reach its store: it was fired " +
			"{latenessMs} later, at {createTime}"},
		{"", FactGapLeftOut, "the schedule names a time that does not exist then, and leaves it out (dstGap SKIP)"},
		{
			"",
			FactGapMoved,
			"the schedule names a time that does not exist then, whose fire is of {change} (dstGap NEXT_VALID)",
		},
		{"", FactGapRunsOn, "the schedule fires in every hour, and goes on by the new time"},
		{"", FactFireThen, "the fire of {time}: {outcome}[, {reason}]"},
		{"", FactMadeLater, "the job was made later, at {createTime}"},
		{"", FactField, "{cronField} says no: {cronValue}[; it names {cronNames}]"},
		{"", FactMisfireRan, "it was missed at its time; the misfire policy {misfirePolicy} ran it later"},
		{"", FactMisfirePolicy, "the misfire policy of the job is {misfirePolicy}"},
		{"", FactChanged, "version {then} of the job held then; now it is version {now}"},
		{"", FactBefore, "the fire before that was of {time}: {outcome}[, {reason}]"},
		{"", FactPausedNow, "the job is " + paused},
		{"", FactGroupPausedNow, "the group {group} is " + paused},
		{"", FactAllPausedNow, "every job is " + paused},
		{"", FactDisabledNow, "the job is not enabled"},
		{"", FactFinishedNow, finishedNow},
		{"", FactStartedBy, "it was started by the run {runId}[ of the job {startedByJob}]" +
			"[, which ended as {status}][, {reason}]"},
		{"", FactStarted, "its end started the run {runId} of the job {nextJob}, which is {status}"},
		{"", FactNotStarted, "its end was to start the job {nextJob}, which did not run: {reason}[; {message}]"},
		{"", FactNotFollowed, "it did not start the job {nextJob}, which follows an end as {on}: it ended as {outcome}"},
		{"", FactOwed, "its end is to start the job {nextJob}, which has not happened yet"},
		{
			"", FactFollows,
			"it follows the job {startedByJob}, at an end as {on}[; the fire of that job of {time}: {outcome}][, {reason}]",
		},
		{"", FactAlert, "alert {level} {type}, {status} since {since}: {content}"},
	}, stepSentences()...)
}

// Codes lists the codes of answers: those of verdicts, statuses, reasons and what runs wait for.
func Codes() []Code {
	known := map[Code]bool{}
	for _, s := range Sentences() {
		if s.Verdict != "" && s.Code != "" && s.Code != Range {
			known[s.Code] = true
		}
	}
	for r := range reasons {
		known[Code(r)] = true
	}
	for w := range waits {
		known[Code(w)] = true
	}
	for _, s := range []entity.Status{
		entity.StatusRunning, entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout, entity.StatusCancelled,
		entity.StatusDead,
	} {
		known[Code(s)] = true
	}
	return slices.Sorted(maps.Keys(known))
}

// FactCodes lists the codes of facts.
func FactCodes() []Code {
	var out []Code
	for _, s := range Sentences() {
		if s.Verdict == "" {
			out = append(out, s.Code)
		}
	}
	slices.Sort(out)
	return out
}

// Meanings are the sentences of the reasons and of what runs wait for, as the parameters reason and waitsFor are said.
func Meanings() (of map[entity.Reason]string, waitsFor map[entity.Wait]string) {
	return maps.Clone(reasons), maps.Clone(waits)
}

// template is the text of a verdict and code; of facts the verdict is empty.
func template(v Verdict, code Code) string {
	rest := ""
	for _, s := range Sentences() {
		if s.Verdict == v && s.Code == code {
			return s.Text
		}
		if s.Verdict == v && s.Code == "" {
			rest = s.Text
		}
	}
	return rest
}

package report

import (
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

// API is how long calls of the REST API took beside a firing engine, in ms from the moment that
// was planned for each. So a server that stalls is charged for all calls that should have begun
// meanwhile.
type API struct {
	CallsPerSecond float64                       `json:"callsPerSecond"`
	Calls          int                           `json:"calls"`
	Errors         int                           `json:"errors"`
	Reads          *measure.Quantiles            `json:"readsMs"`
	Writes         *measure.Quantiles            `json:"writesMs"`
	ByCall         map[string]*measure.Quantiles `json:"byCallMs"`
}

// Talkers are the runs that talk or keep silent while others are measured.
const Talkers = 500

// Talk compares the throughput of a node whose 500 other runs talk with that of
// one whose 500 other runs keep silent, in turns.
type Talk struct {
	SilentPerSecond  float64 `json:"silentPerSecond"`
	TalkingPerSecond float64 `json:"talkingPerSecond"`
	// Kept is the median over the pairs of talking by silent.
	Kept           float64 `json:"kept"`
	LinesPerSecond float64 `json:"linesPerSecond"`
	Pairs          int     `json:"pairs"`
}

// Tail is how logs arrived that were followed while they were written. The
// delay of a line is from its writing to its reading by the client, in ms.
type Tail struct {
	Tails          int                `json:"tails"`
	Lines          int                `json:"lines"`
	LinesPerSecond float64            `json:"linesPerSecond"`
	DelayMs        *measure.Quantiles `json:"delayMs"`
	TorrentDelayMs *measure.Quantiles `json:"torrentDelayMs"`
	// Reconnects counts streams that ended before their run and were opened again.
	Reconnects int `json:"reconnects"`
}

// Probe is how a page of jobs was answered while jobs fired, in ms from the
// moment that was planned for each question.
type Probe struct {
	Calls  int                `json:"calls"`
	Errors int                `json:"errors"`
	Ms     *measure.Quantiles `json:"ms"`
}

// Failover is what the loss of a node cost, over all rounds.
type Failover struct {
	Rounds  int  `json:"rounds"`
	Freeze  bool `json:"freeze"`
	LeaseMs int  `json:"leaseMs"`
	// Partitions are those of the lost nodes that had jobs. Gap is from the loss to the first fire
	// of each that another node began.
	Partitions int                `json:"partitions"`
	Gap        *measure.Quantiles `json:"gapMs"`
	// Lost are runs that were at work on the victims, Retried is from the loss
	// to the moment at which each began again.
	LostRuns int                `json:"lostRuns"`
	Retried  *measure.Quantiles `json:"retriedMs"`
	// Refused are late results of frozen nodes that the store kept as evidence.
	Refused int `json:"refused"`
}

// Rolling is what it took to restart the nodes, one after the other.
type Rolling struct {
	Rounds   int `json:"rounds"`
	Restarts int `json:"restarts"`
	// Stop is from the signal to the end of the process. Join is from its start to the moment at
	// which it had its share of the partitions.
	Stop *measure.Quantiles `json:"stopMs"`
	Join *measure.Quantiles `json:"joinMs"`
}

// Outage is how the nodes came back after restarts of the store.
type Outage struct {
	Rounds int `json:"rounds"`
	// Away is how long the store took no connection. First is from its return to the first fire,
	// Backlog to the last start that was more than a second late.
	Away    *measure.Quantiles `json:"awayMs"`
	First   *measure.Quantiles `json:"firstFireMs"`
	Backlog *measure.Quantiles `json:"backlogMs"`
}

// Package series names the time series that the store keeps, and says what they mean and how they add up.
package series

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// Scope is what one series is about.
type Scope string

// The scopes. A series of a group holds a row for each node as well; readers add these up.
const (
	Node    Scope = "NODE"
	Group   Scope = "GROUP"
	Cluster Scope = "CLUSTER"
)

// Kind says how samples become one value.
type Kind string

// The kinds. A GAUGE is a level: its value is the mean of the samples. A SUM counts what happened: its value is the
// total.
const (
	Gauge Kind = "GAUGE"
	Sum   Kind = "SUM"
)

// The periods of rows.
const (
	Minute = time.Minute
	Hour   = time.Hour
	Day    = 24 * time.Hour
)

// OtherGroup stands for all groups beyond the bound. It is no valid name of a group.
const OtherGroup = "(other)"

// Def describes one series. Names are stable: they stand in the store and in the API.
type Def struct {
	Name    string
	Scope   Scope
	Kind    Kind
	Unit    string
	Meaning string
}

// Measure is one reading of a series on one node. The value of a SUM is its total since the process began.
type Measure struct {
	Name string
	// Group is empty but for series of groups.
	Group string
	Value float64
}

// Row is the value of one series in one period.
type Row struct {
	Name   string
	Period time.Duration
	// Time is the begin of the period in UTC.
	Time time.Time
	// NodeID is empty for series of the cluster, Group but for series of groups.
	NodeID, Group string
	// Samples is how many readings the row stands for. Sum is their sum, Min and Max their bounds.
	Samples       int64
	Sum, Min, Max float64
}

// Value is what readers see: the total of a SUM, the mean of a GAUGE.
func (r Row) Value(kind Kind) float64 {
	if kind == Sum || r.Samples == 0 {
		return r.Sum
	}
	return r.Sum / float64(r.Samples)
}

// DimHash is the hash of what the row is about.
func (r Row) DimHash() string {
	h := sha256.Sum256([]byte(r.NodeID + "\x00" + r.Group))
	return hex.EncodeToString(h[:8])
}

// ID is computed from name, period, time and what the row is about. So a repeated write is the same row.
func (r Row) ID() string {
	b := append([]byte(r.Name), 0)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Period/time.Second))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Time.Unix()))
	b = append(b, r.NodeID+"\x00"+r.Group...)
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:16])
}

// Merge adds the readings of another row.
func (r *Row) Merge(o Row) {
	if o.Samples == 0 {
		return
	}
	if r.Samples == 0 {
		r.Min, r.Max = o.Min, o.Max
	}
	r.Samples, r.Sum = r.Samples+o.Samples, r.Sum+o.Sum
	r.Min, r.Max = min(r.Min, o.Min), max(r.Max, o.Max)
}

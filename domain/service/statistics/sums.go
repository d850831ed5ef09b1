package statistics

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// Kind says what a row of a scope is about.
type Kind string

// The kinds of scopes. The name of a CLUSTER is empty.
const (
	KindCluster Kind = "CLUSTER"
	KindGroup   Kind = "GROUP"
	KindNode    Kind = "NODE"
)

// JobHour names a row of a job: the 16 bytes of its id, and the hour by its begin in
// UTC, in milliseconds since 1970.
type JobHour struct {
	Job  [16]byte
	Hour int64
}

// ScopeHour names a row of a scope.
type ScopeHour struct {
	Kind Kind
	Name string
	Hour int64
}

// Sums are the rows of hours that a batch of ends adds up to. Not safe for concurrent
// use.
type Sums struct {
	jobs   map[JobHour]*Row
	scopes map[ScopeHour]*Row
}

// NewSums returns sums of nothing.
func NewSums() *Sums { return &Sums{jobs: map[JobHour]*Row{}, scopes: map[ScopeHour]*Row{}} }

// Add counts an end in the hour in which it ended: for its job, the job's group, the
// node or worker group and the cluster. The end of a shard counts for its node alone, which has run
// it. ShardedFire.Run makes the end that counts for the others; it has no node. A step of a workflow counts for its
// own id and its node, an item of a map for its node alone, and the word of a person not at all.
func (s *Sums) Add(e *End, group string) {
	if e.Word() {
		return
	}
	hour := HourOf(e.At).UnixMilli()
	if e.Node != "" {
		s.scope(ScopeHour{KindNode, holderOf(e.Node), hour}).Add(e)
	}
	if e.Shards > 0 || e.Item {
		return
	}
	rowOf(s.jobs, JobHour{e.Job, hour}).Add(e)
	if e.Inline() {
		return
	}
	s.scope(ScopeHour{KindGroup, group, hour}).Add(e)
	s.scope(ScopeHour{KindCluster, "", hour}).Add(e)
}

// WorkersName is the name of the row of a worker group among those of nodes.
func WorkersName(group string) string { return entity.WorkerMark + group }

// holderOf is the name that a node or worker counts under. Workers count by their group: there may be thousands, and
// they come and go with the programs that they are.
func holderOf(id string) string {
	if group := worker.GroupOf(id); group != "" {
		return WorkersName(group)
	}
	return id
}

// Jobs are the names of the rows of jobs, and Scopes those of scopes, in one order on
// every node: two that fold at once then lock rows in the same order.
func (s *Sums) Jobs() []JobHour {
	return slices.SortedFunc(maps.Keys(s.jobs), func(a, b JobHour) int {
		return cmp.Or(bytes.Compare(a.Job[:], b.Job[:]), cmp.Compare(a.Hour, b.Hour))
	})
}

// Scopes are the names of the rows of scopes; see Jobs.
func (s *Sums) Scopes() []ScopeHour {
	return slices.SortedFunc(maps.Keys(s.scopes), func(a, b ScopeHour) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hour, b.Hour))
	})
}

// Job is a row that Jobs names; nil for another name.
func (s *Sums) Job(name JobHour) *Row { return s.jobs[name] }

// Scope is a row that Scopes names; nil for another name.
func (s *Sums) Scope(name ScopeHour) *Row { return s.scopes[name] }

func (s *Sums) scope(name ScopeHour) *Row { return rowOf(s.scopes, name) }

func rowOf[K comparable](rows map[K]*Row, name K) *Row {
	row := rows[name]
	if row == nil {
		row = &Row{}
		rows[name] = row
	}
	return row
}

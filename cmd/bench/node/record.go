package node

import (
	"encoding/binary"
	"io"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

// Record is a message of a node to its bench, of one fixed length.
type Record [40]byte

// The kinds of records.
const (
	RecordStart      = 'e'
	RecordEnds       = 'n'
	RecordPartitions = 'p'
	RecordPort       = 's'
)

// startRecord makes the record of a handler entry.
func startRecord(s measure.StartEvent) (r Record) {
	r[0], r[1] = RecordStart, s.Attempt
	if s.Long {
		r[2] = 1
	}
	binary.LittleEndian.PutUint32(r[4:], s.Job)
	binary.LittleEndian.PutUint64(r[8:], uint64(s.ScheduledTime))
	binary.LittleEndian.PutUint64(r[16:], uint64(s.At))
	binary.LittleEndian.PutUint32(r[24:], s.Recorded)
	binary.LittleEndian.PutUint32(r[28:], s.Taken)
	return r
}

// StartEvent reads a record of the kind RecordStart, from the node of a number.
func (r *Record) StartEvent(node uint8) measure.StartEvent {
	return measure.StartEvent{
		ScheduledTime: int64(binary.LittleEndian.Uint64(r[8:])), At: int64(binary.LittleEndian.Uint64(r[16:])),
		Job: binary.LittleEndian.Uint32(r[4:]), Recorded: binary.LittleEndian.Uint32(r[24:]),
		Taken:   binary.LittleEndian.Uint32(r[28:]),
		Attempt: r[1], Node: node, Long: r[2] == 1,
	}
}

// partitionsRecord makes the record of what a node holds.
func partitionsRecord(p measure.PartitionSet) (r Record) {
	r[0] = RecordPartitions
	binary.LittleEndian.PutUint32(r[4:], p.Epoch)
	copy(r[8:], p.Owned[:])
	return r
}

// Partitions reads a record of the kind RecordPartitions.
func (r *Record) Partitions() (p measure.PartitionSet) {
	p.Epoch = binary.LittleEndian.Uint32(r[4:])
	copy(p.Owned[:], r[8:])
	return p
}

// numberRecord makes a record of one figure: ends, or the port that is served.
func numberRecord(kind byte, n int64) (r Record) {
	r[0] = kind
	binary.LittleEndian.PutUint64(r[8:], uint64(n))
	return r
}

// Number reads a record of the kind RecordEnds or RecordPort.
func (r *Record) Number() int64 { return int64(binary.LittleEndian.Uint64(r[8:])) }

// ReadRecords hands on what comes, as much as there is at a time, until the
// other side is gone. A record that was cut off is none.
func ReadRecords(from io.Reader, take func(some []Record)) {
	raw := make([]byte, 1<<16)
	some := make([]Record, 0, len(raw)/len(Record{}))
	kept := 0
	for {
		n, err := from.Read(raw[kept:])
		n += kept
		some = some[:0]
		at := 0
		for ; n-at >= len(Record{}); at += len(Record{}) {
			some = append(some, Record(raw[at:at+len(Record{})]))
		}
		take(some)
		kept = copy(raw, raw[at:n])
		if err != nil {
			return
		}
	}
}

package bench

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// sighting is one handler entry. It holds no pointers: what is kept of a bench
// must not burden the collector of the program that it watches.
type sighting struct {
	// nominal is the fire's time in ms, at the entry in µs since the epoch.
	nominal, at int64
	job         uint32
	// recorded and taken are when the run's record was made, and when a node
	// took it, in ms after the nominal time; a direct start is both at once.
	recorded, taken uint32
	attempt         uint8
	// node is the number of the process, 0 where there is one.
	node uint8
	long bool
}

// place is what a node holds: its partitions, under its epoch.
type place struct {
	epoch uint32
	owned [entity.Partitions / 8]byte
}

func (p *place) add(partition int) { p.owned[partition/8] |= 1 << (partition % 8) }

func (p *place) has(partition int) bool { return p.owned[partition/8]&(1<<(partition%8)) != 0 }

// join adds what another place holds.
func (p *place) join(other place) {
	for i, b := range other.owned {
		p.owned[i] |= b
	}
}

func (p *place) count() int {
	n := 0
	for partition := range entity.Partitions {
		if p.has(partition) {
			n++
		}
	}
	return n
}

// record is a message of a node to its bench, of one fixed length.
type record [40]byte

// The kinds of records.
const (
	recordEntry  = 'e'
	recordEnds   = 'n'
	recordPlace  = 'p'
	recordServes = 's'
)

func (s sighting) record() (r record) {
	r[0], r[1] = recordEntry, s.attempt
	if s.long {
		r[2] = 1
	}
	binary.LittleEndian.PutUint32(r[4:], s.job)
	binary.LittleEndian.PutUint64(r[8:], uint64(s.nominal))
	binary.LittleEndian.PutUint64(r[16:], uint64(s.at))
	binary.LittleEndian.PutUint32(r[24:], s.recorded)
	binary.LittleEndian.PutUint32(r[28:], s.taken)
	return r
}

func (r *record) sighting(node uint8) sighting {
	return sighting{
		nominal: int64(binary.LittleEndian.Uint64(r[8:])), at: int64(binary.LittleEndian.Uint64(r[16:])),
		job: binary.LittleEndian.Uint32(r[4:]), recorded: binary.LittleEndian.Uint32(r[24:]), taken: binary.LittleEndian.Uint32(r[28:]),
		attempt: r[1], node: node, long: r[2] == 1,
	}
}

func (p *place) record() (r record) {
	r[0] = recordPlace
	binary.LittleEndian.PutUint32(r[4:], p.epoch)
	copy(r[8:], p.owned[:])
	return r
}

func (r *record) place() (p place) {
	p.epoch = binary.LittleEndian.Uint32(r[4:])
	copy(p.owned[:], r[8:])
	return p
}

// number makes a record of one figure: ends, or the port that is served.
func number(kind byte, n int64) (r record) {
	r[0] = kind
	binary.LittleEndian.PutUint64(r[8:], uint64(n))
	return r
}

func (r *record) number() int64 { return int64(binary.LittleEndian.Uint64(r[8:])) }

// readRecords hands on what comes, as much as there is at a time, until the
// other side is gone. A record that was cut off is none.
func readRecords(from io.Reader, take func(some []record)) {
	raw := make([]byte, 1<<16)
	some := make([]record, 0, len(raw)/len(record{}))
	kept := 0
	for {
		n, err := from.Read(raw[kept:])
		n += kept
		some = some[:0]
		at := 0
		for ; n-at >= len(record{}); at += len(record{}) {
			some = append(some, record(raw[at:at+len(record{})]))
		}
		take(some)
		kept = copy(raw, raw[at:n])
		if err != nil {
			return
		}
	}
}

// clip fits a number of ms into its field.
func clip(ms int64) uint32 { return uint32(min(max(ms, 0), math.MaxUint32)) }

package measure

import (
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// PartitionSet is what a node holds: its partitions, under its epoch.
type PartitionSet struct {
	Epoch uint32
	Owned [entity.Partitions / 8]byte
}

// Add adds one partition.
func (p *PartitionSet) Add(partition int) { p.Owned[partition/8] |= 1 << (partition % 8) }

// Has reports whether the set holds a partition.
func (p *PartitionSet) Has(partition int) bool { return p.Owned[partition/8]&(1<<(partition%8)) != 0 }

// AddAll adds what another set holds.
func (p *PartitionSet) AddAll(other PartitionSet) {
	for i, b := range other.Owned {
		p.Owned[i] |= b
	}
}

// Count is the number of partitions.
func (p *PartitionSet) Count() int {
	n := 0
	for partition := range entity.Partitions {
		if p.Has(partition) {
			n++
		}
	}
	return n
}

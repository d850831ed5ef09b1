package node

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

func TestRecordsSurviveTheWay(t *testing.T) {
	want := measure.StartEvent{
		ScheduledTime: noon.UnixMilli(), At: noon.UnixMicro() + 7, Job: 70_000, Recorded: 1234,
		Taken: 12_345, Attempt: 3, Node: 2, Long: true,
	}
	here := measure.PartitionSet{Epoch: 5}
	here.Add(0)
	here.Add(255)
	var stream bytes.Buffer
	tell := &recordWriter{out: &stream}
	tell.starts(want)
	require.Zero(t, stream.Len(), "it is kept until the next flush")
	tell.put(partitionsRecord(here))
	tell.put(numberRecord(RecordEnds, 1<<40))
	tell.flush()
	stream.WriteString("a piece of a record")
	var got []Record
	ReadRecords(iotest.HalfReader(iotest.OneByteReader(&stream)), func(some []Record) { got = append(got, some...) })
	require.Len(t, got, 3)
	require.Equal(t, want, got[0].StartEvent(2))
	require.Equal(t, here, got[1].Partitions())
	require.Equal(t, int64(1<<40), got[2].Number())
}

func TestAnEagerTellerKeepsNothingBack(t *testing.T) {
	out, in := io.Pipe()
	go func() { (&recordWriter{out: in, eager: true}).starts(measure.StartEvent{Job: 1, Attempt: 1}) }()
	raw := make([]byte, len(Record{}))
	_, err := io.ReadFull(out, raw)
	require.NoError(t, err)
}

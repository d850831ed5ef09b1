package vo_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func chunk(from, to int64, kind entity.LogType, content string) entity.LogChunk {
	return entity.LogChunk{Attempt: 1, Type: kind, SeqFrom: from, SeqTo: to, Content: content}
}

func texts(logs vo.Logs) (out []string) {
	for _, l := range logs.Items {
		mark := ""
		if l.Unfinished {
			mark = " …"
		}
		out = append(out, fmt.Sprintf("%d %s%s", l.Seq, l.Line, mark))
	}
	return out
}

func TestALineThatWasReplacedIsNotShown(t *testing.T) {
	chunks := []entity.LogChunk{
		chunk(1, 2, entity.LogStdout, "begin\n10%\r"), chunk(3, 3, entity.LogStderr, "careful"),
		chunk(4, 5, entity.LogStdout, "20%\r\n30%\r"),
	}
	require.Equal(t, []string{"1 begin", "3 careful", "5 30% …"}, texts(vo.FromChunks(chunks, 0, 50, false)))
	chunks = append(chunks, chunk(6, 7, entity.LogStdout, "100%\nthe end"))
	require.Equal(t, []string{"1 begin", "3 careful", "6 100%", "7 the end"}, texts(vo.FromChunks(chunks, 0, 50, false)))
	require.Equal(t, []string{"3 careful", "6 100%"}, texts(vo.FromChunks(chunks, 1, 2, false)))
	other := chunk(1_000_001, 1_000_001, entity.LogStdout, "again")
	other.Attempt = 2
	require.Equal(t, []string{"1 10% …", "1000001 again"},
		texts(vo.FromChunks([]entity.LogChunk{chunk(1, 1, entity.LogStdout, "10%\r"), other}, 0, 50, false)),
		"another attempt replaces nothing")
}

// A reader of one page after another reads no line twice, and misses none.
func TestAPageDoesNotEndWithALineThatTheNextOneMayReplace(t *testing.T) {
	first := []entity.LogChunk{chunk(1, 2, entity.LogStdout, "begin\n10%\r")}
	page := vo.FromChunks(first, 0, 50, true)
	require.Equal(t, []string{"1 begin"}, texts(page))
	require.Equal(t, "1", *page.NextCursor)
	alone := vo.FromChunks(first, 1, 50, true)
	require.Equal(t, []string{"2 10% …"}, texts(alone))
	require.Equal(t, "2", *alone.NextCursor)
}

// Former versions stored rows with more line breaks than numbers.
func TestARowWithMoreLinesThanNumbersIsReadWhole(t *testing.T) {
	logs := vo.FromChunks([]entity.LogChunk{
		chunk(1, 3, entity.LogStdout, "a\nb\nc\nmiddle\nthe end"), chunk(4, 4, entity.LogStdout, "after"),
		chunk(5, 5, entity.LogStdout, "x\ny"),
	}, 0, 50, false)
	require.Equal(t, []string{"1 a", "2 b", "3 c\nmiddle\nthe end", "4 after", "5 x\ny"}, texts(logs))
}

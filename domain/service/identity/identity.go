// Package identity computes the names under which fires are recorded. A planned fire has
// the same name on every node, however often it is decided. So the primary key of the
// store makes a second run impossible (engine rule 1).
package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// maxMillis is the last moment the 48 bits of an id can hold (year 10889).
const maxMillis = 1<<48 - 1

// rangePrefix marks the fire key of a row that stands for many fires.
const rangePrefix = "range:"

// backfillPrefix marks the fire key of a past time that was run on demand.
const backfillPrefix = "backfill:"

// repeatPrefix marks the fire key of executions that were repeated on demand.
const repeatPrefix = "RETRY:"

// keyLayout is RFC 3339 in UTC, always with milliseconds, so that keys of one
// job sort in time order. It is not clock.Layout: that may change with the API, while
// keys are stored and so are frozen.
const keyLayout = "2006-01-02T15:04:05.000Z"

// FireKey is the fire's name within its job: the scheduled time in UTC, cut to
// milliseconds, such as 2026-11-20T21:33:00.000Z.
func FireKey(scheduled time.Time) string {
	var buf [len(keyLayout) + 8]byte
	return string(scheduled.UTC().AppendFormat(buf[:0], keyLayout))
}

// RangeKey is the name of a row that stands for all fires from first on, up to
// the end that the row itself holds. It never equals a FireKey.
func RangeKey(first time.Time) string {
	var buf [len(rangePrefix) + len(keyLayout) + 8]byte
	b := append(buf[:0], rangePrefix...)
	return string(first.UTC().AppendFormat(b, keyLayout))
}

// BackfillKey is the name under which a backfill runs a scheduled time: the same
// for every backfill, so that no two of them run it. It never equals a FireKey
// or a RangeKey.
func BackfillKey(scheduled time.Time) string { return backfillPrefix + FireKey(scheduled) }

// IsBackfill reports whether BackfillKey made the key.
func IsBackfill(fireKey string) bool { return strings.HasPrefix(fireKey, backfillPrefix) }

// RepeatKey is the name under which one backfill repeats what failed at a scheduled
// time. As the key of any other fire on demand it ends with an id, and that begins with
// the moment with which the ids of its executions begin.
func RepeatKey(scheduled time.Time, backfillID string) string {
	return repeatPrefix + ExecutionID(scheduled, backfillID, FireKey(scheduled), 0)
}

// nextPrefix marks the fire key of a fire that the end of another job's fire has started.
const nextPrefix = "next:"

// NextKey is the name of the fire that the end of a fire starts, at the given depth of its chain. The fire that ended
// is named by the first of its executions, and the key ends with an id that begins with the moment of the end. So
// whoever reads the rows of that fire makes the same key.
func NextKey(depth int, executionID, jobID, fireKey string, ended time.Time) string {
	return nextPrefix + strconv.Itoa(depth) + ":" + executionID + ":" + ExecutionID(ended, jobID, fireKey, 0)
}

// OfNextKey reads the depth and the execution back from a NextKey; it is false for other keys.
func OfNextKey(fireKey string) (depth int, executionID string, ok bool) {
	rest, ok := strings.CutPrefix(fireKey, nextPrefix)
	if !ok {
		return 0, "", false
	}
	parts := strings.Split(rest, ":")
	if len(parts) != 3 {
		return 0, "", false
	}
	depth, err := strconv.Atoi(parts[0])
	_, known := TimeOf(parts[1])
	return depth, parts[1], err == nil && depth > 0 && known
}

// stepPrefix marks the fire key of a step of a workflow run.
const stepPrefix = "run:"

// StepKey is the name of a step's execution: its workflow run, and the key of the step within that.
func StepKey(run, step string) string { return stepPrefix + run + ":" + step }

// IsStepKey reports whether StepKey made the key.
func IsStepKey(fireKey string) bool { return strings.HasPrefix(fireKey, stepPrefix) }

// OfStepKey reads the workflow run and the step back from a StepKey; it is false for other keys.
func OfStepKey(fireKey string) (run, step string, ok bool) {
	rest, ok := strings.CutPrefix(fireKey, stepPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// StepPrefix begins the id of a step, over all runs of its workflow: that of no moment. Ids of jobs begin with one.
const StepPrefix = "00000000-0000-8"

// StepID is the id of a step whose work stands in the workflow.
func StepID(workflowID, name string) string { return ExecutionID(time.Time{}, workflowID, name, 0) }

// IsStepID reports whether StepID made the id.
func IsStepID(id string) bool { return strings.HasPrefix(id, StepPrefix) }

// IsStepBytes is IsStepID for the 16 bytes of an id.
func IsStepBytes(id [16]byte) bool { return binary.BigEndian.Uint64(id[:])>>12 == 8 }

// ScheduledTimeOf is the time that FireKey or BackfillKey made a key of; the ids of
// such a fire begin with it. It is false for other keys.
func ScheduledTimeOf(fireKey string) (time.Time, bool) {
	t, err := time.Parse(keyLayout, strings.TrimPrefix(fireKey, backfillPrefix))
	return t, err == nil
}

// ExecutionID is the id of one shard of one planned fire, a UUID of version 8. Its first
// 48 bits are the scheduled time, so that ids sort by time. 74 bits are a hash over job,
// fire and shard. The format is frozen: every node and every release must compute the
// same. Times outside 1970–10889 count as the nearer bound; they still hash apart by fire
// key.
func ExecutionID(scheduled time.Time, jobID, fireKey string, shard int) string {
	var buf [192]byte
	var digits [20]byte
	b := appendPart(buf[:0], jobID)
	b = appendPart(b, fireKey)
	b = appendPart(b, strconv.AppendInt(digits[:0], int64(shard), 10))
	sum := sha256.Sum256(b)

	var id [16]byte
	putMillis(&id, scheduled)
	copy(id[6:], sum[:10])
	id[6] = id[6]&0x0f | 0x80 // version 8
	id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
	return format(&id)
}

// RandomID is a UUID of version 7. Its first 48 bits are the moment, and the next 12 the
// fraction of the millisecond. So it sorts by time, and nobody else makes the same. The
// caller takes the moment from the store's clock (engine rule 2).
func RandomID(at time.Time) string {
	var id [16]byte
	_, _ = rand.Read(id[8:]) // it never fails
	putMillis(&id, at)
	fraction := at.Nanosecond() % 1_000_000 * 4096 / 1_000_000
	id[6], id[7] = 0x70|byte(fraction>>8), byte(fraction) // version 7
	id[8] = id[8]&0x3f | 0x80                             // variant of RFC 9562
	return format(&id)
}

// MomentOf is the time with which the ids of a fire's runs begin. For a planned or
// backfilled fire it is the scheduled time, for a step that of its workflow run, for others the time of the id at the
// end of the key. It is false for keys that tell none.
func MomentOf(fireKey string) (time.Time, bool) {
	if run, _, ok := OfStepKey(fireKey); ok {
		return TimeOf(run)
	}
	if at, ok := ScheduledTimeOf(fireKey); ok {
		return at, true
	}
	return TimeOf(fireKey[strings.LastIndexByte(fireKey, ':')+1:])
}

// FloorID is the smallest text an id of that millisecond can have: rows with
// FloorID(from) ≤ id < FloorID(to) are those of [from, to).
func FloorID(t time.Time) string {
	var id [16]byte
	putMillis(&id, t)
	return format(&id)
}

// TimeOf reads the moment back from an id of version 7 or 8: the scheduled time
// of a planned run, the creation of any other. It is false for other texts.
func TimeOf(id string) (time.Time, bool) {
	if len(id) != 36 || id[14] != '7' && id[14] != '8' {
		return time.Time{}, false
	}
	b, ok := Bytes(id)
	if !ok {
		return time.Time{}, false
	}
	ms := int64(binary.BigEndian.Uint64(b[:]) >> 16)
	return time.UnixMilli(ms).UTC(), true
}

// Bytes are the 16 bytes that an id writes out. It is false for a text that is none:
// digits are lower-case, so that an id has one text.
func Bytes(id string) (b [16]byte, ok bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return b, false
	}
	var text [36]byte
	copy(text[:], id)
	big := binary.BigEndian
	var wrong uint64
	for i, eight := range [4]uint64{
		big.Uint64(text[:]),
		uint64(big.Uint32(text[9:]))<<32 | uint64(big.Uint32(text[14:])),
		uint64(big.Uint32(text[19:]))<<32 | uint64(big.Uint32(text[24:])),
		big.Uint64(text[28:]),
	} {
		value, w := unhex(eight)
		big.PutUint32(b[4*i:], value)
		wrong |= w
	}
	return b, wrong == 0
}

// Text is the id of 16 bytes.
func Text(b [16]byte) string { return format(&b) }

// appendPart adds one part with its length before it, so that no two lists of
// parts run together into the same bytes.
func appendPart[T string | []byte](b []byte, part T) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
	return append(b, part...)
}

func putMillis(id *[16]byte, t time.Time) {
	ms := uint64(min(max(t.UnixMilli(), 0), maxMillis))
	binary.BigEndian.PutUint16(id[0:], uint16(ms>>32))
	binary.BigEndian.PutUint32(id[2:], uint32(ms))
}

const hexDigits = "0123456789abcdef"

func format(id *[16]byte) string {
	var out [36]byte
	at := 0
	for i, b := range id {
		switch i {
		case 4, 6, 8, 10:
			out[at] = '-'
			at++
		}
		out[at], out[at+1] = hexDigits[b>>4], hexDigits[b&0x0f]
		at += 2
	}
	return string(out[:])
}

// unhex reads 8 lower-case hexadecimal digits at once, a byte of x each; wrong is 0
// when they all are. Each end of an execution reads an id, and digit by digit that
// takes as long as all the rest of it.
func unhex(x uint64) (value uint32, wrong uint64) {
	const each = 0x0101010101010101
	v := x&(0x0f*each) + x>>6&each*9    // of a letter bit 6 is set
	letters := (v + 6*each) >> 4 & each // digits above 9
	wrong = v&(0xf0*each) | ((v + '0'*each + letters*('a'-'0'-10)) ^ x)
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return uint32(v | v>>16), wrong
}

// Hash is 128 bits over texts, in hexadecimal digits. No two lists of texts run together.
func Hash(texts ...string) string {
	var b []byte
	for _, text := range texts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

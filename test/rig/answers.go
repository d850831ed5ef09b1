package rig

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// Answers say which statements are answered in the stead of the store, as
// answer.Rule does within a process.
type Answers struct {
	Place  answer.Place
	Number answer.Number
	// Row picks the statements that hold this text, and the transactions that
	// have had one; empty: all that write.
	Row string
	// Times bounds the answers; 0 is no bound.
	Times int
}

// The commands of the protocol of MySQL that matter here.
const (
	comQuery   = 0x03
	comPrepare = 0x16
	comExecute = 0x17
	comClose   = 0x19
	// headLength is that of a packet: three bytes for its length and one for its number.
	headLength = 4
	isOK       = 0x00
	isError    = 0xff
	idLength   = 4
)

// talk is what is known of the statements of a connection.
type talk struct {
	prepared map[uint32]string
	// preparing waits for its id.
	preparing string
	// touched: the transaction has had a statement that the rule names.
	touched bool
	// instead is passed on in the place of the next answer: of a commit that was done, where
	// ifDone says so, or whatever it is.
	instead []byte
	ifDone  bool
}

// NewStoreProxy is NewProxy to a MySQL or MariaDB server, whose protocol it knows.
func NewStoreProxy(upstream string) (*Proxy, error) {
	p, err := NewProxy(upstream)
	if err == nil {
		p.store.Store(true)
	}
	return p, err
}

// Answer begins to answer by a rule; nil by none.
func (p *Proxy) Answer(a *Answers) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answering, p.given = a, 0
}

// Given is how many answers were given since Answer, Answered since the beginning.
func (p *Proxy) Given() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given
}

// Answered is how many answers were given in all.
func (p *Proxy) Answered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answered
}

// piece reads what the node says next: of the store's protocol a whole packet.
func (p *Proxy) piece(l *link, buffer []byte) ([]byte, error) {
	if !p.store.Load() {
		n, err := l.client.Read(buffer)
		return buffer[:n], err
	}
	head := buffer[:headLength]
	if _, err := io.ReadFull(l.client, head); err != nil {
		return nil, err
	}
	length := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	packet := buffer
	if headLength+length > len(packet) {
		packet = append([]byte{}, head...)
		packet = append(packet, make([]byte, length)...)
	}
	packet = packet[:headLength+length]
	_, err := io.ReadFull(l.client, packet[headLength:])
	return packet, err
}

// asked judges a packet of the node: reply is what the node is told, and the store nothing of it;
// else the store is told what is in forward.
func (p *Proxy) asked(l *link, packet []byte) (reply, forward []byte) {
	if !p.store.Load() || len(packet) <= headLength || packet[3] != 0 { // signing in counts on
		return nil, packet
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text, whole := l.statement(packet)
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(text)), " ")
	switch word {
	case "START", "BEGIN", "ROLLBACK":
		l.touched = false
	case "COMMIT":
		touched := l.touched
		l.touched = false
		if !touched || !p.may() || p.answering.Place == answer.Statement {
			break
		}
		p.give()
		l.instead, l.ifDone = refusal(p.answering.Number), p.answering.Place == answer.AfterCommit
		if !l.ifDone {
			return nil, query("ROLLBACK")
		}
	case "INSERT", "UPDATE", "DELETE", "REPLACE":
		if !whole || !p.may() || !bytes.Contains(packet, []byte(p.answering.Row)) {
			break
		}
		l.touched = true
		if p.answering.Place == answer.Statement {
			p.give()
			return refusal(p.answering.Number), nil
		}
	}
	return nil, packet
}

// may and give are called with the lock.
func (p *Proxy) may() bool {
	return p.answering != nil && (p.answering.Times == 0 || p.given < p.answering.Times)
}

func (p *Proxy) give() {
	p.given++
	p.answered++
}

// statement is the text of the statement that a packet is about; whole says that its values are in the packet, too.
func (l *link) statement(packet []byte) (text string, whole bool) {
	body := packet[headLength+1:]
	switch packet[headLength] {
	case comQuery:
		return string(body[:min(len(body), longestWord)]), true
	case comPrepare:
		l.preparing = string(body[:min(len(body), longestWord)])
	case comExecute:
		if len(body) >= idLength {
			return l.prepared[binary.LittleEndian.Uint32(body)], true
		}
	case comClose:
		if len(body) >= idLength {
			delete(l.prepared, binary.LittleEndian.Uint32(body))
		}
	}
	return "", false
}

// longestWord is more than the first word of a statement has.
const longestWord = 64

// replaced judges an answer of the store: it is passed on, or another one in its place.
func (p *Proxy) replaced(l *link, packet []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.preparing != "" && len(packet) > headLength+idLength {
		if packet[headLength] == isOK {
			if l.prepared == nil {
				l.prepared = map[uint32]string{}
			}
			l.prepared[binary.LittleEndian.Uint32(packet[headLength+1:])] = l.preparing
		}
		l.preparing = ""
	}
	instead, ifDone := l.instead, l.ifDone
	l.instead = nil
	if instead == nil || ifDone && len(packet) > headLength && packet[headLength] != isOK {
		return packet
	}
	return instead
}

// refusal is the packet of an error that answers a command.
func refusal(n answer.Number) []byte {
	body := binary.LittleEndian.AppendUint16([]byte{isError}, n.Number)
	return framed(append(append(body, "#HY000"...), n.Text...), 1)
}

func query(text string) []byte { return framed(append([]byte{comQuery}, text...), 0) }

func framed(body []byte, number byte) []byte {
	n := len(body)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), number}, body...)
}

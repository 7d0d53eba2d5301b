package faults

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Pair is one message for one recipient, which may arrive once.
type Pair struct {
	Message   string // the Message-ID without angle brackets
	Recipient string
}

// EmailID returns the id of the email of the message: Message-IDs begin with it.
func (p Pair) EmailID() string {
	id, _, _ := strings.Cut(p.Message, "@")
	return id
}

// Line is one line of the sink's file.
type Line struct {
	Pair

	At time.Time
}

// Sink collects the mail of its hosts. It ends with the test.
type Sink struct {
	t       testing.TB
	joining chan record
	ended   chan struct{}
	open    sync.WaitGroup

	mu         sync.Mutex
	hosts      []*Host
	lines      []Line            // flushed
	arrived    map[Accepted]bool // from these lines
	unanswered map[Pair]int
	refused    map[string]int // by recipient
	deferred   map[string]bool
}

// Prefixes of addresses that every host treats in a special way.
const (
	Gone  = "gone"  // rejected permanently
	Later = "later" // deferred once
)

// record is a line to be flushed.
type record struct {
	line Line
	done chan error
}

// NewSink starts a sink without hosts.
func NewSink(t testing.TB) *Sink {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "sink"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Sink{t: t, joining: make(chan record, 256), ended: make(chan struct{}), arrived: map[Accepted]bool{},
		unanswered: map[Pair]int{}, refused: map[string]int{}, deferred: map[string]bool{}}
	go s.write(file)
	t.Cleanup(s.close)
	return s
}

// write flushes lines to the disk, several at a time.
func (s *Sink) write(file *os.File) {
	defer close(s.ended)
	for first := range s.joining {
		batch := []record{first}
		for more := true; more; {
			select {
			case next, ok := <-s.joining:
				if more = ok; ok {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		var text strings.Builder
		for _, r := range batch {
			fmt.Fprintf(&text, "%s %s %s\n", r.line.Message, r.line.Recipient, r.line.At.Format(time.RFC3339Nano))
		}
		_, err := file.WriteString(text.String())
		if err == nil {
			err = file.Sync()
		}
		s.mu.Lock()
		for _, r := range batch {
			if err == nil {
				s.lines = append(s.lines, r.line)
				s.arrived[Accepted{r.line.EmailID(), r.line.Recipient}] = true
			}
		}
		s.mu.Unlock()
		for _, r := range batch {
			r.done <- err
		}
	}
	if err := file.Close(); err != nil {
		s.t.Errorf("sink: %v", err)
	}
}

// store returns when the line is on the disk.
func (s *Sink) store(p Pair) error {
	r := record{line: Line{Pair: p, At: time.Now()}, done: make(chan error, 1)}
	s.joining <- r
	return <-r.done
}

// leave records a copy whose 250 never reached the client.
func (s *Sink) leave(p Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered[p]++
}

func (s *Sink) refuse(recipient string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[recipient]++
}

// deferOnce reports whether this is the first attempt for the recipient.
func (s *Sink) deferOnce(recipient string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.deferred[recipient]
	s.deferred[recipient] = true
	return first
}

// Deferred returns the number of recipients that were deferred.
func (s *Sink) Deferred() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.deferred)
}

// Refused returns how often each recipient was rejected permanently.
func (s *Sink) Refused() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.refused)
}

// Lines returns all arrived lines.
func (s *Sink) Lines() []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Line(nil), s.lines...)
}

// Count returns the number of lines.
func (s *Sink) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lines)
}

// Unanswered returns how many copies of each pair were stored but not acknowledged because of a fault.
func (s *Sink) Unanswered() map[Pair]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.unanswered)
}

// Listen adds a host. The address may have port 0.
func (s *Sink) Listen(addr string) *Host {
	s.t.Helper()
	h := &Host{sink: s, clients: map[net.Conn]bool{}, released: make(chan struct{})}
	if err := h.listen(addr); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts = append(s.hosts, h)
	return h
}

func (s *Sink) close() {
	for _, h := range s.hosts {
		h.close()
	}
	s.open.Wait()
	close(s.joining)
	<-s.ended
}

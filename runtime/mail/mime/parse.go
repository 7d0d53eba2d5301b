package mime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Limits bound what Parse reads and keeps. A zero value means the default.
type Limits struct {
	Depth       int   // nested multiparts, default 20
	Parts       int   // parts in all, default 500
	HeaderBytes int   // one header block, default 256 KB
	TextBytes   int   // html and text, each, default 5 MB
	DataBytes   int64 // part data kept in all, default 50 MB; what is over is counted only
	TotalBytes  int64 // message, default 150 MB; the rest is not read
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Depth, 20)
	setDefault(&l.Parts, 500)
	setDefault(&l.HeaderBytes, 256<<10)
	setDefault(&l.TextBytes, 5<<20)
	setDefault(&l.DataBytes, 50<<20)
	setDefault(&l.TotalBytes, 150<<20)
	return l
}

func setDefault[N int | int64](value *N, fallback N) {
	if *value == 0 {
		*value = fallback
	}
}

// Mailbox is an address as a stranger wrote it: decoded, not validated.
type Mailbox struct{ Name, Address string }

// Parsed is what Parse found. All strings are valid UTF-8 without NUL.
type Parsed struct {
	Headers    []Header // decoded and unfolded, in order
	From       []Mailbox
	To         []Mailbox
	CC         []Mailbox
	BCC        []Mailbox
	ReplyTo    []Mailbox
	Subject    string
	MessageID  string // without angle brackets
	InReplyTo  string
	References []string
	Date       time.Time // zero when missing or unreadable
	HTML       string
	Text       string
	Parts      []Part   // everything that is not in HTML or Text
	Problems   []string // what was wrong and tolerated
}

// Part is an attachment or an inline picture.
type Part struct {
	Name        string
	ContentType string // lower case, without parameters
	ContentID   string // without angle brackets
	Inline      bool   // meant to be shown inside the html
	Size        int64  // decoded
	Data        []byte // shorter than Size when Limits.DataBytes was used up
}

// Get returns the first value of a field.
func (p Parsed) Get(name string) string {
	for _, h := range p.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// rawKept is how much of the body is remembered in case that no structure is
// found in it.
const rawKept = 256 << 10

// Parse reads a message to its end. Broken messages are the normal case: an
// early end is the end, an unknown charset or encoding gives the octets as they
// are, and a message without recognisable structure is one text. The error is
// only ever that of the reader.
func Parse(r io.Reader, limits Limits) (Parsed, error) {
	limits = limits.withDefaults()
	p := &parser{limits: limits, source: &source{r: r, left: limits.TotalBytes}}
	header, body := p.header(p.source)
	p.describe(header)
	var raw prefix
	p.entity(header, io.TeeReader(body, &raw), 0)
	// What no part claimed, the epilogue, is read so that the source is at its end.
	if _, err := io.Copy(&raw, body); err != nil {
		p.problem("message ends early")
	}
	if p.text.Len() == 0 && p.html.Len() == 0 && len(p.out.Parts) == 0 {
		p.text.Write(raw.kept[:min(len(raw.kept), limits.TextBytes)])
	}
	p.out.HTML, p.out.Text = clean(p.html.String()), clean(p.text.String())
	if p.source.cut {
		p.problem("message is longer than %d octets", limits.TotalBytes)
	}
	if p.source.err != nil {
		return p.out, fmt.Errorf("read message: %w", p.source.err)
	}
	return p.out, nil
}

// parser walks one message.
type parser struct {
	limits Limits
	source *source
	out    Parsed
	html   bytes.Buffer
	text   bytes.Buffer
	parts  int
	kept   int64
	full   bool // too many parts, stop
}

const maxProblems = 50

func (p *parser) problem(format string, args ...any) {
	if len(p.out.Problems) < maxProblems {
		p.out.Problems = append(p.out.Problems, fmt.Sprintf(format, args...))
	}
}

// source is the message as it comes in, with the limits that hold across all
// nesting. A trip of one ends the message for every reader above.
type source struct {
	r      io.Reader
	left   int64
	header int64 // octets that the next header block may still take, 0 is no limit
	cut    bool
	tooBig bool
	err    error // of the reader, apart from the end
}

func (s *source) Read(b []byte) (int, error) {
	switch {
	case s.err != nil, s.tooBig:
		return 0, io.EOF
	case s.left <= 0:
		return 0, s.more()
	case int64(len(b)) > s.left:
		b = b[:s.left]
	}
	n, err := s.r.Read(b)
	s.left -= int64(n)
	if s.header > 0 {
		if s.header -= int64(n); s.header <= 0 {
			s.tooBig = true
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.err, err = err, io.EOF
	}
	return n, err
}

// more finds out whether the limit cut anything off.
func (s *source) more() error {
	if !s.cut {
		var one [1]byte
		n, err := s.r.Read(one[:])
		s.cut = n > 0
		if err != nil && !errors.Is(err, io.EOF) {
			s.err = err
		}
	}
	return io.EOF
}

// prefix keeps the first octets written to it.
type prefix struct{ kept []byte }

func (p *prefix) Write(b []byte) (int, error) {
	if room := rawKept - len(p.kept); room > 0 {
		p.kept = append(p.kept, b[:min(room, len(b))]...)
	}
	return len(b), nil
}

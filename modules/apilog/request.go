package apilog

import (
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
)

// MaxRaw is how many octets of a body are looked at.
const MaxRaw = 32 << 10

const (
	maxPath = 500 // octets
	maxID   = 64
)

// IsID tells whether a word can be the id of a request (see X-Request-Id in runtime/base/telemetry).
func IsID(word string) bool {
	return word != "" && len(word) <= maxID && !strings.ContainsFunc(word, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// Body is what the edge has seen of a body.
type Body struct {
	Octets int64  // of the whole body
	Media  string // Content-Type
	Raw    []byte // the first octets, at most MaxRaw; nil: nothing of it is kept
}

// Seen is a request as the edge has seen it. It belongs to the log once it was added.
type Seen struct {
	ID        string // X-Request-Id
	AccountID string
	Method    string
	Path      string
	Operation string // its id in the OpenAPI document
	Status    int
	Took      time.Duration
	APIKeyID  string // empty: a person asked
	UserID    string // empty: a key asked
	IP        string
	EmailID   string // empty: the answer may tell
	At        time.Time
	Asked     Body
	Answered  Body
}

func (s *Seen) octets() int { return len(s.Asked.Raw) + len(s.Answered.Raw) }

// Request is one line of the log.
type Request struct {
	ID             string // X-Request-Id; who asks may give the same one twice
	AccountID      string
	Method         string
	Path           string
	Operation      string
	Status         int
	DurationMS     int
	APIKeyID       string // empty: a person asked
	UserID         string // empty: a key asked
	IP             string
	RequestBody    string // redacted, at most 4 KB
	RequestOctets  int64  // of the whole body
	ResponseBody   string
	ResponseOctets int64
	EmailID        string // of the email that was made, or that it is about; may be empty
	CreatedAt      time.Time

	n int64 // in the order of storing
}

// line is what is stored of a request.
func (s *Seen) line() Request {
	r := Request{ID: s.ID, AccountID: s.AccountID, Method: clean(s.Method, 20), Path: clean(s.Path, maxPath), Operation: s.Operation, Status: s.Status,
		DurationMS: int(s.Took.Milliseconds()), APIKeyID: s.APIKeyID, UserID: s.UserID, IP: s.IP, EmailID: s.EmailID,
		RequestOctets: s.Asked.Octets, ResponseOctets: s.Answered.Octets, CreatedAt: s.At}
	asked, answered := s.Asked.redacted(false), s.Answered.redacted(true)
	r.RequestBody, r.ResponseBody = asked.Text, answered.Text
	if r.EmailID == "" {
		r.EmailID = answered.EmailID
	}
	return r
}

// redacted is what is kept of a body.
func (b Body) redacted(answer bool) Redacted {
	switch {
	case len(b.Raw) == 0:
		return Redacted{}
	case !IsJSON(b.Media):
		return Redacted{Text: clean("["+b.Media+"]", 200)}
	}
	return Redact(b.Raw, int64(len(b.Raw)) < b.Octets, answer)
}

// IsJSON tells whether a body of the Content-Type can be redacted.
func IsJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// clean makes of a text one that the database takes.
func clean(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// emailOf is the id of an email that a string is; empty for others.
func emailOf(text string) string {
	if id.Is(id.Email, text) {
		return text
	}
	return ""
}

package apilog

import (
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
)

// MaxRaw is the maximum number of bytes of a body that are examined.
const MaxRaw = 32 << 10

const (
	maxPath = 500 // bytes
	maxID   = 64
)

// IsID reports whether a string can be a request id (see X-Request-Id in runtime/base/telemetry).
func IsID(word string) bool {
	return word != "" && len(word) <= maxID && !strings.ContainsFunc(word, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// CapturedBody is a body as seen by the API.
type CapturedBody struct {
	Size  int64  // bytes of the whole body
	Media string // Content-Type
	Raw   []byte // the first bytes, at most MaxRaw; nil if the body is not logged
}

// Seen is a request as seen by the API. The log owns it after Add.
type Seen struct {
	ID        string // X-Request-Id
	AccountID string
	Method    string
	Path      string
	Operation string // operation id in the OpenAPI document
	Status    int
	Took      time.Duration
	APIKeyID  string // empty for a request by a user
	UserID    string // empty for a request by an API key
	IP        string
	EmailID   string // if empty, taken from the response
	At        time.Time
	Asked     CapturedBody
	Answered  CapturedBody
}

func (s *Seen) bodySizes() int { return len(s.Asked.Raw) + len(s.Answered.Raw) }

// LoggedRequest is one entry of the log.
type LoggedRequest struct {
	ID             string // X-Request-Id; a client may send the same one twice
	AccountID      string
	Method         string
	Path           string
	Operation      string
	Status         int
	DurationMS     int
	APIKeyID       string // empty for a request by a user
	UserID         string // empty for a request by an API key
	IP             string
	RequestBody    string // redacted, at most 4 KB
	RequestOctets  int64  // size of the whole body
	ResponseBody   string
	ResponseOctets int64
	EmailID        string // the created or affected email, if any
	CreatedAt      time.Time

	n int64 // in storage order
}

// line returns the log entry of a request.
func (s *Seen) line() LoggedRequest {
	r := LoggedRequest{ID: s.ID, AccountID: s.AccountID, Method: cleanText(s.Method, 20),
		Path:      cleanText(s.Path, maxPath),
		Operation: s.Operation, Status: s.Status,
		DurationMS: int(s.Took.Milliseconds()), APIKeyID: s.APIKeyID, UserID: s.UserID, IP: s.IP, EmailID: s.EmailID,
		RequestOctets: s.Asked.Size, ResponseOctets: s.Answered.Size, CreatedAt: s.At}
	asked, answered := s.Asked.redact(false), s.Answered.redact(true)
	r.RequestBody, r.ResponseBody = asked.Text, answered.Text
	if r.EmailID == "" {
		r.EmailID = answered.EmailID
	}
	return r
}

// redact returns the redacted body.
func (b CapturedBody) redact(answer bool) Redacted {
	switch {
	case len(b.Raw) == 0:
		return Redacted{}
	case !IsJSON(b.Media):
		return Redacted{Text: cleanText("["+b.Media+"]", 200)}
	}
	return Redact(b.Raw, int64(len(b.Raw)) < b.Size, answer)
}

// IsJSON reports whether a body of the Content-Type can be redacted.
func IsJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// cleanText converts text to a form that the database accepts.
func cleanText(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// emailOf returns the string if it is the id of an email, and otherwise an empty string.
func emailOf(text string) string {
	if id.Is(id.Email, text) {
		return text
	}
	return ""
}

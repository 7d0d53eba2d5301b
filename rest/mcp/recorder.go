package mcp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/web/loopback"
)

const (
	maxString   = 256 << 10 // maximum bytes of a JSON string; the rest is cut
	maxResponse = 8 << 20   // bytes of a response after its strings were cut
)

// recorder keeps a JSON response of the API in bounded memory: it cuts long strings, such as the contents of
// attachments, while the response is written.
type recorder struct {
	body []byte

	quoted bool // inside a string
	length int  // length of the string so far
	escape int  // bytes that follow in an escape sequence
	slash  int  // where in body the latest escape sequence begins
	over   bool // the response is larger than maxResponse
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	for _, c := range p {
		if r.keep(c) {
			if len(r.body) >= maxResponse {
				r.over = true
				break
			}
			r.body = append(r.body, c)
		}
	}
	return len(p), nil
}

// keep tracks the strings of the JSON text, and reports whether to keep a byte.
func (r *recorder) keep(c byte) bool {
	if !r.quoted {
		r.quoted, r.length, r.escape = c == '"', 0, 0
		return true
	}
	if c == '"' && r.escape == 0 {
		if r.length > maxString {
			r.body = append(r.body, "…"...)
		}
		r.quoted = false
		return true
	}
	within := r.escape > 0 // an escape sequence that started earlier
	r.followEscape(c)
	if r.length++; r.length <= maxString {
		return true
	}
	if within && r.length == maxString+1 {
		r.body = r.body[:r.slash] // drop the incomplete sequence
	}
	return false
}

// followEscape tracks the escape sequences of a string: a backslash and a character, or \u and four digits.
func (r *recorder) followEscape(c byte) {
	const digits = 4
	switch {
	case r.escape == 0 && c == '\\':
		r.escape, r.slash = 1+digits, len(r.body)
	case r.escape == 1+digits && c != 'u':
		r.escape = 0
	case r.escape > 0:
		r.escape--
	}
}

// decode decodes the body of a response, or returns a *callError if the response is not a success.
func (r *recorder) decode(response *loopback.Response, into any) error {
	switch {
	case r.over:
		return &callError{Status: http.StatusRequestEntityTooLarge,
			Message: "The result is too large for this tool. Ask for fewer entries or use the REST API"}
	case response.IsSuccess():
		return loopback.Decode(r.body, into)
	}
	return r.problem(response)
}

func (r *recorder) problem(response *loopback.Response) error {
	var answer struct {
		Error struct {
			Message string         `json:"message"`
			Code    string         `json:"code"`
			Details map[string]any `json:"details"`
		} `json:"error"`
		Errors []struct { // GraphQL errors
			Message    string `json:"message"`
			Extensions struct {
				Code string `json:"code"`
			} `json:"extensions"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(r.body, &answer) // if the problem is unreadable, the status remains
	e := &callError{Status: response.Status, Code: answer.Error.Code, Message: answer.Error.Message,
		RetryAfter: response.Header().Get("Retry-After")}
	if len(answer.Errors) > 0 {
		e.Message = cmp.Or(e.Message, answer.Errors[0].Message)
		e.Code = cmp.Or(e.Code, strings.ToLower(answer.Errors[0].Extensions.Code))
	}
	e.Message = cmp.Or(e.Message, http.StatusText(response.Status))
	for field, reason := range answer.Error.Details {
		if text, is := reason.(string); is {
			e.Fields = append(e.Fields, field+" "+text)
		}
	}
	slices.Sort(e.Fields)
	return e
}

// callError is a refusal of the API.
type callError struct {
	Status     int
	Code       string
	Message    string
	Fields     []string // wrong fields with reasons
	RetryAfter string   // seconds
}

// Error implements error.
func (e *callError) Error() string {
	text := strings.TrimSuffix(e.Message, ".")
	if len(e.Fields) > 0 {
		text += ": " + strings.Join(e.Fields[:min(len(e.Fields), maxFields)], "; ")
	}
	return text + "."
}

const maxFields = 20 // per error

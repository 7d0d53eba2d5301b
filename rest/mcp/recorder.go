package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	maxString   = 256 << 10 // bytes of one JSON string that are kept
	maxResponse = 8 << 20   // bytes of a response after its strings were cut
)

// recorder keeps a JSON response of the API in bounded memory: it cuts long strings, such as the contents of
// attachments, while the response is written.
type recorder struct {
	header http.Header
	status int
	body   []byte

	quoted  bool // inside a string
	escaped bool // after a backslash in it
	length  int  // of the string so far
	over    bool // the response is larger than maxResponse
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
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

// keep follows the strings of the JSON text, and reports whether a byte of it is kept.
func (r *recorder) keep(c byte) bool {
	if !r.quoted {
		r.quoted, r.length = c == '"', 0
		return true
	}
	switch {
	case r.escaped:
		r.escaped = false
	case c == '\\':
		r.escaped = true
	case c == '"':
		if r.length > maxString {
			r.body = append(trimEscape(r.body), "…"...)
		}
		r.quoted = false
		return true
	}
	r.length++
	return r.length <= maxString
}

// trimEscape removes an escape sequence that was cut from the end of a string: at most 11 bytes of a surrogate
// pair.
func trimEscape(text []byte) []byte {
	const longest = 11
	tail := text[max(0, len(text)-longest):]
	if at := bytes.IndexByte(tail, '\\'); at >= 0 {
		return text[:len(text)-len(tail)+at]
	}
	return text
}

// decode decodes the response, or returns a *callError if it is not a success.
func (r *recorder) decode(into any) error {
	if r.over {
		return &callError{Status: http.StatusRequestEntityTooLarge,
			Message: "The result is too large for this tool. Ask for fewer entries or use the REST API"}
	}
	if r.status >= http.StatusMultipleChoices {
		return r.problem()
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("decode the response of the API: %w", err)
	}
	return nil
}

func (r *recorder) problem() error {
	var answer struct {
		Error struct {
			Message string         `json:"message"`
			Code    string         `json:"code"`
			Details map[string]any `json:"details"`
		} `json:"error"`
		Errors []struct { // of GraphQL
			Message    string `json:"message"`
			Extensions struct {
				Code string `json:"code"`
			} `json:"extensions"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(r.body, &answer) // an unreadable problem has its status left
	e := &callError{Status: r.status, Code: answer.Error.Code, Message: answer.Error.Message,
		RetryAfter: r.header.Get("Retry-After")}
	if len(answer.Errors) > 0 {
		e.Message = cmp.Or(e.Message, answer.Errors[0].Message)
		e.Code = cmp.Or(e.Code, strings.ToLower(answer.Errors[0].Extensions.Code))
	}
	e.Message = cmp.Or(e.Message, http.StatusText(r.status))
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

const maxFields = 20 // that one error names

package mime

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxInvitation bounds the calendar files that are read for their method, in bytes.
const maxInvitation = 256 << 10

var (
	calendarMethod = regexp.MustCompile(`(?im)^METHOD(?:;[^:\r\n]*)?:[ \t]*([A-Z-]{1,32})[ \t]*\r?$`)
	foldedLine     = regexp.MustCompile(`\r?\n[ \t]`) // RFC 5545 section 3.1
)

// byteOrderMark starts the files of some calendar programs. Within an alternative, it would hide the calendar
// from mail clients.
var byteOrderMark = []byte("\uFEFF")

// completeInvitation completes a calendar file (RFC 6047 section 2.4): its type names the method and the charset. The
// second entity is a copy for the alternatives of the message, where mail clients look for invitations. ok is
// false if the file has no method. Files of type application/ics, which calendar programs attach, keep their
// type.
func completeInvitation(file entity) (attached, alternative entity, ok bool) {
	isCalendar := file.contentType == "text/calendar"
	if !isCalendar && file.contentType != "application/ics" || file.length > maxInvitation {
		return file, entity{}, false
	}
	data := file.data
	if file.read != nil {
		if err := file.read(func(read []byte) { data = bytes.Clone(read) }); err != nil {
			return file, entity{}, false // writing the file reports the error
		}
	}
	method := strings.ToUpper(paramOf(file.params, "method"))
	if method == "" {
		if found := calendarMethod.FindSubmatch(foldedLine.ReplaceAll(data, nil)); found != nil {
			method = strings.ToUpper(string(found[1]))
		}
	}
	readable := utf8.Valid(data)
	if isCalendar && readable {
		file.params = withParam(file.params, "charset", "utf-8")
	}
	if isCalendar && method != "" {
		file.params = withParam(file.params, "method", method)
	}
	if method == "" || !readable {
		return file, entity{}, false
	}
	alternative = textEntity("text/calendar", string(bytes.TrimPrefix(data, byteOrderMark)))
	alternative.params = withParam(alternative.params, "method", method)
	return file, alternative, true
}

func paramOf(params []param, name string) string {
	for _, p := range params {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// withParam adds a parameter if it is missing. It does not change the caller's list.
func withParam(params []param, name, value string) []param {
	if paramOf(params, name) != "" {
		return params
	}
	return append(slices.Clip(params), param{name, value})
}

package verbatim

import (
	"bytes"
	"mime"
	"strings"
)

// The bounds of what is looked into; beyond them everything stays as it is.
const (
	maxDepth = 20
	maxParts = 500
)

// part is a leaf of a message's structure, by where it stands in it.
type part struct {
	fields           []Field
	header           int // begin of its header
	begin, end       int // of its body, without the CRLF that belongs to the boundary
	contentType      string
	params           map[string]string
	disposition      string
	encoding         string // lower case
	opaque, enclosed bool   // signed or encrypted; a message within the message
}

// structure lists the leaves of a message in order, and the headers of all parts that
// hold others.
type structure struct {
	message []byte
	fields  []Field
	body    int // where it begins
	leaves  []part
	holders []part
	parts   int
	broken  bool // something could not be taken apart
}

// read takes a whole message apart.
func read(message []byte) (*structure, error) {
	fields, body, err := splitFields(message)
	if err != nil {
		return nil, err
	}
	s := &structure{message: message, fields: fields, body: len(message) - len(body)}
	s.entity(part{fields: fields, begin: s.body, end: len(message)}, 0)
	return s, nil
}

// Names are all file names that parts of the message go by, also those that a reader may
// take for bodies: others may not.
func Names(message []byte) []string {
	s, err := read(message)
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range s.leaves {
		_, disposition := mediaType(Get(p.fields, "Content-Disposition"))
		for _, name := range []string{p.params["name"], disposition["filename"]} {
			if name != "" {
				names = append(names, Decode(name))
			}
		}
	}
	return names
}

func (s *structure) entity(p part, depth int) {
	p.contentType, p.params = mediaType(Get(p.fields, "Content-Type"))
	p.disposition, _, _ = strings.Cut(strings.ToLower(Get(p.fields, "Content-Disposition")), ";")
	p.disposition = strings.TrimSpace(p.disposition)
	p.encoding = strings.ToLower(strings.TrimSpace(Get(p.fields, "Content-Transfer-Encoding")))
	boundary := p.params["boundary"]
	if s.parts++; s.parts > maxParts || depth > maxDepth {
		s.broken = true
		return
	}
	switch {
	case !strings.HasPrefix(p.contentType, "multipart/"):
		s.leaves = append(s.leaves, p)
		return
	case boundary == "" || len(boundary) > 200:
		s.broken = true
		s.leaves = append(s.leaves, p)
		return
	case p.contentType == "multipart/signed", p.contentType == "multipart/encrypted":
		p.opaque = true
	}
	s.holders = append(s.holders, p)
	for _, at := range s.between(p.begin, p.end, boundary) {
		fields, body, err := splitFields(s.message[at[0]:at[1]])
		if err != nil {
			s.broken = true
			continue
		}
		child := part{fields: fields, header: at[0], begin: at[1] - len(body), end: at[1], opaque: p.opaque, enclosed: p.enclosed}
		if body == nil { // its header has no end, and so it has no place for a body
			child.opaque = true
		}
		if Get(fields, "Content-Type") == "" && p.contentType == "multipart/digest" {
			child.enclosed = true // RFC 2046 section 5.1.5: each is a message
		}
		s.entity(child, depth+1)
	}
}

// between finds the parts of a multipart by its delimiter lines (RFC 2046 section
// 5.1.1).
func (s *structure) between(begin, end int, boundary string) (parts [][2]int) {
	open := -1
	for at := begin; at < end; {
		line := end - at
		if n := bytes.Index(s.message[at:end], []byte("\r\n")); n >= 0 {
			line = n + 2
		}
		text := strings.TrimRight(string(s.message[at:at+min(line, len(boundary)+80)]), " \t\r\n")
		if rest, found := strings.CutPrefix(text, "--"+boundary); found && (rest == "" || rest == "--") {
			if open >= 0 {
				parts = append(parts, [2]int{open, max(open, at-2)}) // the CRLF before it is the delimiter's
			}
			if rest == "--" {
				return parts
			}
			open = at + line
		}
		at += line
	}
	if open >= 0 {
		s.broken = true // it was not ended
		parts = append(parts, [2]int{min(open, end), end})
	}
	return parts
}

// mediaType is text/plain where there is none that can be read (RFC 2045 section 5.2).
func mediaType(value string) (string, map[string]string) {
	if value == "" {
		return "text/plain", nil
	}
	contentType, params, err := mime.ParseMediaType(value)
	if err != nil && contentType == "" {
		return "application/octet-stream", nil
	}
	return contentType, params
}

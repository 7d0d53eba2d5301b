package verbatim

import (
	"mime"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
)

// part is a leaf of a message's structure, by its position.
type part struct {
	fields           []HeaderField
	header           int // start of its header
	begin, end       int // of its body, without the CRLF that belongs to the boundary
	contentType      string
	params           map[string]string
	disposition      string
	encoding         string // lower case
	opaque, enclosed bool   // signed or encrypted; a message within the message
}

// structure lists the leaves of a message in order, and the headers of all parts that contain others.
type structure struct {
	message []byte
	fields  []HeaderField
	body    int // where it begins
	leaves  []part
	holders []part
	broken  bool // a part could not be parsed
}

// parseMessage parses a whole message.
func parseMessage(raw []byte) (*structure, error) {
	fields, body, err := splitFields(raw)
	if err != nil {
		return nil, err
	}
	s := &structure{message: raw, fields: fields, body: len(raw) - len(body)}
	root, complete := message.Structure(raw)
	s.broken = !complete
	s.readEntity(part{fields: fields, begin: s.body, end: len(raw)}, root)
	return s, nil
}

// Names returns all file names of the message's parts, including those of parts that only some readers
// treat as bodies.
func Names(raw []byte) []string {
	s, err := parseMessage(raw)
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

// Charset returns the charset of a message, or of the first text in it that declares one; "" if there is none.
// Raw 8-bit values in its header most likely use it.
func Charset(raw []byte) string {
	s, err := parseMessage(raw)
	if err != nil {
		return ""
	}
	for _, p := range s.leaves {
		if strings.HasPrefix(p.contentType, "text/") && p.params["charset"] != "" {
			return p.params["charset"]
		}
	}
	return ""
}

// readEntity reads a part that package message has found. If a strict reading of its header leads to different
// parts, it stays one part.
func (s *structure) readEntity(p part, place *message.Part) {
	p.contentType, p.params = mediaType(Get(p.fields, "Content-Type"))
	p.disposition, _, _ = strings.Cut(strings.ToLower(Get(p.fields, "Content-Disposition")), ";")
	p.disposition = strings.TrimSpace(p.disposition)
	p.encoding = strings.ToLower(strings.TrimSpace(Get(p.fields, "Content-Transfer-Encoding")))
	multipart, boundary := strings.HasPrefix(p.contentType, "multipart/"), p.params["boundary"]
	switch {
	case !multipart && place.Boundary == "":
		s.leaves = append(s.leaves, p)
		return
	case !multipart, boundary == "", boundary != place.Boundary:
		s.broken = true
		s.leaves = append(s.leaves, p)
		return
	case p.contentType == "multipart/signed", p.contentType == "multipart/encrypted":
		p.opaque = true
	}
	s.holders = append(s.holders, p)
	s.broken = s.broken || len(place.Parts) > 0 && !place.Closed
	for _, inner := range place.Parts {
		s.readInner(p, inner)
	}
}

// readInner reads a part of a multipart.
func (s *structure) readInner(holder part, place *message.Part) {
	fields, body, err := splitFields(s.message[place.Header:place.End])
	if err != nil {
		s.broken = true
		return
	}
	p := part{fields: fields, header: place.Header, begin: place.End - len(body), end: place.End, opaque: holder.opaque,
		enclosed: holder.enclosed}
	if body == nil { // its header does not end, so it cannot have a body
		p.opaque = true
	}
	if Get(fields, "Content-Type") == "" && holder.contentType == "multipart/digest" {
		p.enclosed = true // RFC 2046 section 5.1.5: each is a message
	}
	s.readEntity(p, place)
}

// mediaType returns text/plain if the type is invalid (RFC 2045 section 5.2).
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

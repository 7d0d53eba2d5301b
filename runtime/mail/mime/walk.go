package mime

import (
	"bytes"
	"errors"
	"io"
	stdmime "mime"
	"strings"

	"github.com/emersion/go-message/textproto"
)

// readAhead is what the buffers of nested readers may hold back beyond the
// header block they are reading.
const readAhead = 128 << 10

// getter is what a part needs of its header.
type getter interface{ Get(name string) string }

// entity takes in a part: descends into a multipart, keeps anything else.
func (p *parser) entity(h getter, body io.Reader, depth int) {
	contentType, params := mediaType(h.Get("Content-Type"), "text/plain")
	if strings.HasPrefix(contentType, "multipart/") {
		switch {
		case params["boundary"] == "":
			p.problem("multipart has no boundary")
			contentType = "text/plain"
		case depth < p.limits.Depth:
			p.multipart(body, params["boundary"], depth)
			return
		default:
			p.problem("multiparts are nested deeper than %d", p.limits.Depth)
		}
	}
	p.leaf(h, contentType, params, body)
}

// multipart hands on its parts. Errors of the reader mean that the structure is
// broken from here on; what came before stays.
func (p *parser) multipart(body io.Reader, boundary string, depth int) {
	// The boundary of RFC 2046 has at most 70 characters; the reader's buffer
	// relies on one that is much shorter than itself.
	if len(boundary) > 200 {
		p.problem("boundary has %d characters", len(boundary))
		return
	}
	reader := textproto.NewMultipartReader(body, boundary)
	for !p.full && !p.source.tooBig {
		p.source.header = int64(p.limits.HeaderBytes + readAhead)
		part, err := reader.NextPart()
		p.source.header = 0
		if p.source.tooBig {
			p.problem("header of a part is longer than %d octets", p.limits.HeaderBytes)
			return
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.problem("multipart is broken or ends early")
			return
		}
		if p.parts++; p.parts > p.limits.Parts {
			p.problem("message has more than %d parts", p.limits.Parts)
			p.full = true
			return
		}
		p.entity(&part.Header, part, depth+1)
		if _, err := io.Copy(io.Discard, part); err != nil {
			p.problem("part ends early")
		}
	}
}

// leaf keeps the content of a part: as html or text when it is the body of the
// message, else as a file.
func (p *parser) leaf(h getter, contentType string, params map[string]string, body io.Reader) {
	disposition, dispositionParams := mediaType(h.Get("Content-Disposition"), "")
	name := paramText(h.Get("Content-Disposition"), dispositionParams["filename"])
	if name == "" {
		name = paramText(h.Get("Content-Type"), params["name"])
	}
	decoded := p.decodeTransfer(h.Get("Content-Transfer-Encoding"), body)
	if disposition != "attachment" && name == "" {
		switch contentType {
		case "text/html":
			p.body(&p.html, decoded, params["charset"])
			return
		case "text/plain":
			p.body(&p.text, decoded, params["charset"])
			return
		}
	}
	id := strings.Trim(h.Get("Content-Id"), "<> \t")
	part := Part{Name: name, ContentType: contentType, ContentID: clean(id), Inline: id != "" && disposition != "attachment"}
	var data bytes.Buffer
	_, err := io.Copy(&data, io.LimitReader(decoded, p.limits.DataBytes-p.kept))
	if err == nil {
		part.Size, err = io.Copy(io.Discard, decoded)
	}
	if err != nil {
		p.problem("part ends early")
	}
	if part.Size > 0 {
		p.problem("part data is more than %d octets, the rest is not kept", p.limits.DataBytes)
	}
	p.kept += int64(data.Len())
	part.Size += int64(data.Len())
	part.Data = data.Bytes()
	p.out.Parts = append(p.out.Parts, part)
}

// body adds to the html or the text: a second one (the footer of a mailing list)
// follows the first.
func (p *parser) body(to *bytes.Buffer, decoded io.Reader, charset string) {
	room := p.limits.TextBytes - to.Len()
	text, more, err := p.decodeText(decoded, charset, room)
	if err != nil {
		p.problem("part ends early")
	}
	if more {
		p.problem("text is longer than %d octets, the rest is not kept", p.limits.TextBytes)
	}
	if to.Len() > 0 && len(text) > 0 && len(text) < room {
		to.WriteByte('\n')
	}
	to.WriteString(text)
}

// maxMediaType bounds the parameters that are parsed in full.
const maxMediaType = 16 << 10

// mediaType reads a Content-Type or Content-Disposition, with what can be saved
// of a malformed one: receivers all over go by type, boundary and name.
func mediaType(value, fallback string) (string, map[string]string) {
	if value == "" {
		return fallback, nil
	}
	if len(value) <= maxMediaType {
		if contentType, params, err := stdmime.ParseMediaType(value); err == nil {
			return contentType, params
		}
	}
	value = wholeString(value, maxMediaType)
	contentType, rest, _ := strings.Cut(value, ";")
	params := map[string]string{}
	for _, name := range []string{"boundary", "charset", "name", "filename"} {
		if v, ok := looseParam(rest, name); ok {
			params[name] = v
		}
	}
	return strings.ToLower(strings.TrimSpace(clean(contentType))), params
}

// looseParam finds name=value or name="value" anywhere after a semicolon.
func looseParam(s, name string) (string, bool) {
	for piece := range strings.SplitSeq(s, ";") {
		key, value, ok := strings.Cut(piece, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), name) {
			continue
		}
		value = strings.TrimSpace(value)
		if inner, quoted := strings.CutPrefix(value, `"`); quoted {
			value, _, _ = strings.Cut(inner, `"`)
		}
		return value, true
	}
	return "", false
}

// paramText decodes the encoded words that many programs put into parameters. In
// the extended form of RFC 2231 the value is plain already.
func paramText(field, value string) string {
	if strings.Contains(field, "*=") {
		return oneLine(value)
	}
	return decodeWords(value)
}

package verbatim

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The bounds of what is looked into; beyond them everything stays as it is.
const (
	maxDepth = 20
	maxParts = 500
)

// wasStructure is the structure as this package found it itself.
type wasStructure struct {
	structure
	parts int
}

func wasRead(message []byte) (*wasStructure, error) {
	fields, body, err := wasSplitFields(message)
	if err != nil {
		return nil, err
	}
	s := &wasStructure{structure: structure{message: message, fields: fields, body: len(message) - len(body)}}
	s.entity(part{fields: fields, begin: s.body, end: len(message)}, 0)
	return s, nil
}

func (s *wasStructure) entity(p part, depth int) {
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
		fields, body, err := wasSplitFields(s.message[at[0]:at[1]])
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
func (s *wasStructure) between(begin, end int, boundary string) (parts [][2]int) {
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

// wasSplitFields reads a header block up to and with its empty line.
func wasSplitFields(block []byte) (fields []Field, rest []byte, err error) {
	start := len(block)
	for number := 1; len(block) > 0; number++ {
		end := bytes.Index(block, []byte("\r\n"))
		if end < 0 {
			end = len(block)
		} else {
			end += 2
		}
		line := block[:end]
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return fields, block[end:], nil
		}
		block = block[end:]
		if start-len(block) > MaxHeader || len(fields) > MaxFields {
			return nil, nil, fmt.Errorf("the header has more than %d octets or %d fields", MaxHeader, MaxFields)
		}
		if line[0] == ' ' || line[0] == '\t' {
			switch {
			case len(fields) == 0:
				return nil, nil, errors.New("the header begins with a continuation line")
			case len(bytes.TrimSpace(line)) == 0:
				// A fold without text (RFC 5322 section 4.2) ends the header for some readers.
				continue
			}
			last := &fields[len(fields)-1]
			last.Raw = append(last.Raw[:len(last.Raw):len(last.Raw)], line...)
			continue
		}
		name, _, found := bytes.Cut(line, []byte(":"))
		if !found || !isName(name) {
			return nil, nil, fmt.Errorf("line %d of the header is no field", number)
		}
		fields = append(fields, Field{Name: string(name), Raw: line})
	}
	return fields, nil, nil
}

// TestBothReadersFindTheSameParts compares the structure that package message finds with
// that which this package found itself, over the corpora of reports, of strangers' mail and
// of our own messages, whole and cut off. It goes together with the second reader.
func TestBothReadersFindTheSameParts(t *testing.T) {
	t.Parallel()
	var all [][]byte
	for _, pattern := range []string{"../dsn/testdata/*.eml", "../mime/testdata/*.eml", "testdata/*/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if raw, err := os.ReadFile(path); err == nil {
				all = append(all, raw)
			}
		}
	}
	archive, err := zip.OpenReader("../message/testdata/messages.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw)
	}
	compared, multiparts := 0, 0
	for _, raw := range all {
		raw = bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
		for _, size := range []int{len(raw), len(raw) * 2 / 3, len(raw) / 2, len(raw) / 3} {
			cut := raw[:bytes.LastIndexByte(raw[:size], '\n')+1]
			if checkLines(cut) != nil {
				continue
			}
			was, wasErr := wasRead(cut)
			is, isErr := read(cut)
			if fmt.Sprint(wasErr) != fmt.Sprint(isErr) {
				t.Errorf("%.300q: error %v, was %v", cut, isErr, wasErr)
			}
			if wasErr != nil || isErr != nil {
				continue
			}
			compared++
			if len(is.holders) > 0 {
				multiparts++
			}
			if !reflect.DeepEqual(was.structure, *is) {
				show := func(s structure) string {
					text := fmt.Sprint("broken ", s.broken, "; ")
					for _, p := range s.leaves {
						text += fmt.Sprint(p.header, " ", p.begin, " ", p.end, " ", p.contentType, p.opaque, p.enclosed, "; ")
					}
					return text
				}
				t.Errorf("%.2000s\nis  %s\nwas %s", cut, show(*is), show(was.structure))
			}
		}
	}
	t.Logf("%d messages compared, %d with multiparts", compared, multiparts)
}

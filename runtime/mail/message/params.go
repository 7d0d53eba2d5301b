package message

import (
	"slices"
	"strconv"
	"strings"
)

// contentType is the relevant part of a Content-Type field.
type contentType struct{ name, boundary, charset, filename string }

// disposition is the relevant part of Content-Disposition (RFC 2183).
type disposition struct{ kind, filename string }

func readContentType(value string) contentType {
	name, params := readParams(value)
	name = strings.Trim(name, ` "'`) // some programs quote the type
	if value == "" || !strings.Contains(name, "/") {
		name = "text/plain" // RFC 2045, 5.2
	}
	for _, part := range strings.SplitN(name, "/", 2) {
		if part == "" || len(name) > 255 || strings.ContainsFunc(part, notToken) {
			name = "application/octet-stream"
		}
	}
	return contentType{
		name:     name,
		boundary: strings.TrimRight(params.rawParam("boundary", maxID), " \t"),
		charset:  charsetName(params.rawParam("charset", 100)),
		filename: params.displayFilename("name"),
	}
}

// charsetName removes quotes and similar characters that some programs add.
func charsetName(s string) string {
	s = strings.Trim(s, ` "'`)
	if i := strings.IndexAny(s, " \t;,("); i > 0 {
		s = s[:i]
	}
	return strings.ToLower(s)
}

func readDisposition(value string) disposition {
	kind, params := readParams(value)
	return disposition{kind: kind, filename: params.displayFilename("filename")}
}

// notToken reports whether a character cannot be in a token (RFC 2045, 5.1).
func notToken(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?=`, r)
}

// params are the relevant parameters of a field.
type params map[string]*param

// param is one parameter, with the sections of RFC 2231.
type param struct {
	whole    string
	given    bool
	sections []section
}

type section struct {
	number   int
	value    string
	extended bool // percent-encoded
}

// maxParams limits how many parameters are read.
const maxParams = 1000

// wanted lists the relevant parameters.
var wanted = []string{"boundary", "charset", "name", "filename"}

// readParams parses "value; name=value; …", reading each byte once. If a parameter occurs twice, the first
// counts.
func readParams(field string) (string, params) {
	field = strings.TrimLeft(field, " \t\r\n")
	s := scanner{rest: field}
	first := strings.ToLower(strings.TrimSpace(s.scanUntil(";", false)))
	if end := strings.IndexAny(first, " \t\r\n,"); end >= 0 && strings.Contains(first[end:], "=") {
		// A semicolon is missing, as in "text/plain charset=utf-8", or a comma takes its place.
		s.rest, first = ";"+field[end+1:], first[:end]
	}
	found := params{}
	for n := 0; s.rest != "" && n < maxParams; n++ {
		s.rest = s.rest[1:] // the semicolon
		name := strings.ToLower(strings.TrimSpace(s.scanUntil("=;", false)))
		if !strings.HasPrefix(s.rest, "=") {
			continue
		}
		s.rest = s.rest[1:]
		found.addParam(name, strings.TrimSpace(s.scanUntil(";", true)))
	}
	return first, found
}

// addParam stores name, name*, name*0 or name*0*.
func (p params) addParam(name, value string) {
	base, suffix, sectioned := strings.Cut(name, "*")
	if !slices.Contains(wanted, base) {
		return
	}
	if p[base] == nil {
		p[base] = &param{}
	}
	have := p[base]
	if !sectioned {
		if !have.given {
			have.whole, have.given = value, true
		}
		return
	}
	digits, extended := strings.CutSuffix(suffix, "*")
	if suffix == "" {
		digits, extended = "0", true
	}
	number, err := strconv.Atoi(digits)
	if err != nil || number < 0 {
		return
	}
	have.sections = append(have.sections, section{number, value, extended})
}

// rawParam returns an ASCII parameter, truncated to a limit.
func (p params) rawParam(name string, bound int) string {
	have := p[name]
	if have == nil {
		return ""
	}
	value := have.whole
	if !have.given {
		value, _ = have.joinSections()
	}
	return value[:min(len(value), bound)]
}

// displayFilename returns a parameter for display. Encoded words are invalid in parameters (RFC 2047, 5), but many
// programs write them; RFC 2231 takes precedence if both are used.
func (p params) displayFilename(name string) string {
	have := p[name]
	if have == nil {
		return ""
	}
	value, plain := have.joinSections()
	if !plain {
		value = decodeWords(value)
	}
	return truncateText(baseName(oneLine(value)), maxName)
}

// baseName returns a file name without its folders. "." and ".." are no names.
func baseName(path string) string {
	name := strings.TrimSpace(path[strings.LastIndexAny(path, `/\`)+1:])
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// joinSections joins the sections in order, up to the first missing one; plain reports whether the charset is
// already decoded.
func (p *param) joinSections() (value string, plain bool) {
	sections := p.sections
	slices.SortStableFunc(sections, func(a, b section) int { return a.number - b.number })
	if len(sections) == 0 || sections[0].number > 1 {
		return p.whole, false
	}
	var joined []byte
	charset, next := "", sections[0].number // some count from 1
	for _, s := range sections {
		if s.number < next {
			continue // duplicate
		}
		if s.number > next {
			break
		}
		value := s.value
		if s.extended {
			plain = true
			if next == sections[0].number {
				if parts := strings.SplitN(value, "'", 3); len(parts) == 3 {
					charset, value = parts[0], parts[2]
				}
			}
			value = decodePercent(value)
		}
		joined = append(joined, value...)
		next++
	}
	if !plain {
		return string(joined), false
	}
	return toUTF8(joined, charset), true
}

// decodePercent decodes %XX, and leaves anything else unchanged.
func decodePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			high, ok := hexValue(s[i+1])
			low, ok2 := hexValue(s[i+2])
			if ok && ok2 {
				out = append(out, high<<4|low)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// scanner reads a structured field: delimiters inside quoted strings and comments are ignored.
type scanner struct{ rest string }

// scanUntil returns everything up to one of the bytes in ends, without comments, and without the quotes of
// quoted strings if unquote is set.
func (s *scanner) scanUntil(ends string, unquote bool) string {
	var out strings.Builder
	depth, blank, quoted := 0, true, false
	for i := 0; i < len(s.rest); i++ {
		c := s.rest[i]
		switch {
		case c == '\\' && depth > 0:
			i++
		case c == '(' && (depth > 0 || !unquote || blank || quoted):
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth > 0:
		case strings.IndexByte(ends, c) >= 0:
			s.rest = s.rest[i:]
			return out.String()
		case quoted: // nothing belongs after it
		case c == '"' && unquote && blank:
			i += quotedString(s.rest[i:], &out) - 1
			quoted = true
		default:
			out.WriteByte(c)
			blank = blank && (c == ' ' || c == '\t')
		}
	}
	s.rest = ""
	return out.String()
}

// quotedString writes the content of a quoted string and returns its length. An unterminated one ends at
// the end.
func quotedString(s string, out *strings.Builder) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return i + 1
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			out.WriteByte(s[i])
		default:
			out.WriteByte(s[i])
		}
	}
	return len(s)
}

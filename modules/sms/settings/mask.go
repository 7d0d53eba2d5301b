package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"strings"
	"unicode"

	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/base/secret"
)

// The body of a gateway often contains its user name and password. They cannot be distinguished from other
// constants, so all constants are sealed and shown as a mask. Names and Liquid are shown, so that the owner
// recognizes the body. A mask in a change keeps the stored text at the same position.

// liquidTag matches a Liquid tag or output.
var liquidTag = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}`)

// constant is a text of a body that may be secret, at a position that has a stable path.
type constant struct {
	path     string
	from, to int    // its position in the body
	text     string // decoded
}

// maskText masks the constant parts of a template: parts with letters or digits, outside Liquid or inside
// quotes within Liquid.
func maskText(text string) string {
	var out strings.Builder
	fixed := func(part string) {
		if strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			part = secret.Mask
		}
		out.WriteString(part)
	}
	at := 0
	for _, tag := range liquidTag.FindAllStringIndex(text, -1) {
		fixed(text[at:tag[0]])
		if code := text[tag[0]:tag[1]]; strings.ContainsAny(code, `'"`) {
			fixed(code)
		} else {
			out.WriteString(code)
		}
		at = tag[1]
	}
	fixed(text[at:])
	return out.String()
}

// maskBody returns a body as shown to its owner.
func maskBody(contentType, body string) string {
	list, encode := listConstants(contentType, body)
	return replaceConstants(body, list, func(c constant) string {
		if masked := maskText(c.text); masked != c.text {
			return encode(masked)
		}
		return body[c.from:c.to]
	})
}

// unmaskBody replaces the masks in a body with the texts at the same positions of the original. The error names
// a position whose text is unknown, and is written to follow the name of the field.
func unmaskBody(contentType, body, original string) (string, error) {
	if !strings.Contains(body, secret.Mask) {
		return body, nil
	}
	known := map[string]constant{}
	originals, _ := listConstants(contentType, original)
	for _, c := range originals {
		known[c.path] = c
	}
	list, _ := listConstants(contentType, body)
	var err error
	body = replaceConstants(body, list, func(c constant) string {
		was, found := known[c.path]
		switch {
		case !strings.Contains(c.text, secret.Mask):
			return body[c.from:c.to]
		case found && c.text == maskText(was.text):
			return original[was.from:was.to]
		}
		err = fmt.Errorf("has a mask (%s) in place of an unknown value%s; enter the value again", secret.Mask,
			atPath(c.path))
		return ""
	})
	if err == nil && strings.Contains(body, secret.Mask) {
		err = fmt.Errorf("has a mask (%s) where no value is allowed", secret.Mask)
	}
	return body, err
}

// replaceConstants returns a body with its constants replaced.
func replaceConstants(body string, list []constant, with func(constant) string) string {
	var out strings.Builder
	at := 0
	for _, c := range list {
		out.WriteString(body[at:c.from])
		out.WriteString(with(c))
		at = c.to
	}
	out.WriteString(body[at:])
	return out.String()
}

func atPath(path string) string {
	if path == "" {
		return ""
	}
	return " (" + path + ")"
}

// listConstants lists the constants of a body in order, and returns the function that encodes one. A body of an
// unknown type is a single text.
func listConstants(contentType, body string) (list []constant, encode func(string) string) {
	kind, _, _ := mime.ParseMediaType(contentType) // already validated
	plain := func(text string) string { return text }
	switch {
	case body == "":
		return nil, plain
	case kind == "", kind == provider.JSON:
		if json.Valid([]byte(body)) {
			return jsonConstants(body), quoteJSON
		}
	case kind == provider.Form:
		return formConstants(body), plain
	}
	return []constant{{"", 0, len(body), body}}, plain
}

func formConstants(body string) (list []constant) {
	counts := map[string]int{}
	at := 0
	for pair := range strings.SplitSeq(body, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		list = append(list, constant{fmt.Sprintf("%s[%d]", name, counts[name]), at + len(pair) - len(value),
			at + len(pair), value})
		counts[name]++
		at += len(pair) + 1
	}
	return list
}

// quoteJSON encodes a text as a JSON string.
func quoteJSON(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic("settings: cannot encode a string: " + err.Error())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// jsonConstants lists the values of a JSON document that are strings or numbers. A path consists of the names
// and indexes that lead to a value, and a counter for repeated names.
func jsonConstants(body string) (list []constant) {
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	type level struct {
		object bool
		name   string // name of the current field
		count  int
		isName bool // the next string is a name
	}
	var levels []level
	counts := map[string]int{}
	path := func() string {
		var out strings.Builder
		for _, l := range levels {
			if l.object {
				fmt.Fprintf(&out, "/%q", l.name)
			} else {
				fmt.Fprintf(&out, "/%d", l.count)
			}
		}
		counts[out.String()]++
		if n := counts[out.String()]; n > 1 {
			fmt.Fprintf(&out, "#%d", n)
		}
		return out.String()
	}
	done := func() { // a value has ended
		if n := len(levels); n > 0 {
			levels[n-1].count++
			levels[n-1].isName = levels[n-1].object
		}
	}
	for {
		before := int(decoder.InputOffset())
		token, err := decoder.Token()
		if err != nil {
			return list // end of input, because the document is valid
		}
		after := int(decoder.InputOffset())
		n := len(levels)
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				levels = append(levels, level{object: true, isName: true})
			case '[':
				levels = append(levels, level{})
			default:
				levels = levels[:n-1]
				done()
			}
			continue
		case string:
			if n > 0 && levels[n-1].isName {
				levels[n-1].name, levels[n-1].isName = t, false
				continue
			}
			from := before + strings.IndexByte(body[before:after], '"')
			list = append(list, constant{path(), from, after, t})
		case json.Number:
			list = append(list, constant{path(), after - len(t), after, t.String()})
		}
		done()
	}
}

package lint

import (
	"bytes"
	"fmt"
	"net/textproto"
	"strings"
)

// The line lengths of RFC 5322 section 2.1.1, without CRLF.
const (
	maxLine     = 998
	preferLines = 78
)

// maxHeader is the number of bytes of a header that are inspected.
const maxHeader = 256 << 10

// singular lists the fields that a message may have once (RFC 5322 section 3.6, RFC 2045, RFC 2369, RFC 8058).
var singular = map[string]bool{"Date": true, "From": true, "Sender": true, "Reply-To": true, "To": true, "Cc": true,
	"Bcc": true, "Message-Id": true, "In-Reply-To": true, "References": true, "Subject": true, "Mime-Version": true,
	"Content-Type": true, "Content-Transfer-Encoding": true, "List-Unsubscribe": true, "List-Unsubscribe-Post": true}

// required lists the fields whose absence filters penalize.
var required = []string{"Date", "From", "Message-Id"}

var (
	longLine = problem{"header_line_too_long", Error,
		"A header line is longer than 998 bytes. Servers cut or refuse such a message (RFC 5322).",
		"Shorten the value, or fold it at spaces."}
	wideLine = problem{"header_line_not_folded", Info,
		"A header line is longer than 78 characters, the recommended length.", "Fold it at spaces."}
	rawText = problem{"header_non_ascii", Error,
		"A header field contains characters outside ASCII that are not encoded. Many servers refuse it.",
		"Encode the value (RFC 2047)."}
	duplicate = problem{"header_duplicate", Error,
		"A header field occurs more than once. Gmail refuses such a message (RFC 5322).", "Send the field once."}
	missingField = problem{"header_missing", Error, "A required header field is missing.", "Add the field."}
	brokenField  = problem{"header_malformed", Error, "A line of the header is not a header field.",
		"Write each field as Name: value."}
)

// fields are the unfolded values of header fields by canonical name. nil: the header was not inspected.
type fields map[string][]byte

// inspectHeader inspects the header fields as sent.
func inspectHeader(r *report, raw []byte) fields {
	if raw == nil {
		return nil
	}
	raw = raw[:min(len(raw), maxHeader)]
	found, name, counts, line := fields{}, "", map[string]int{}, 0
	for text := range bytes.Lines(raw) {
		line++
		text = bytes.TrimRight(text, "\r\n")
		if len(text) == 0 {
			break
		}
		if text[0] != ' ' && text[0] != '\t' {
			before, value, ok := bytes.Cut(text, []byte(":"))
			if !ok || len(bytes.TrimSpace(before)) == 0 {
				r.add(brokenField, Header, Place{line, string(text)})
				name = ""
				continue
			}
			name = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimSpace(before)))
			if counts[name]++; counts[name] == 2 && singular[name] {
				r.add(duplicate, Header, Place{line, name})
			}
			found[name] = bytes.Clone(value)
		} else if name != "" {
			found[name] = append(append(found[name], ' '), bytes.TrimLeft(text, " \t")...)
		}
		inspectLine(r, text, line, name)
	}
	for _, name := range required {
		if counts[name] == 0 {
			r.add(missingField, Header, Place{0, name})
		}
	}
	return found
}

// inspectLine checks the length and the characters of a line. A word that is too long to fold, such as an unsubscribe
// link, is not reported for the recommended length.
func inspectLine(r *report, text []byte, line int, name string) {
	at := Place{line, name}
	switch {
	case len(text) > maxLine:
		r.add(longLine, Header, Place{line, fmt.Sprintf("%s: %d bytes", name, len(text))})
	case len(text) > preferLines && longestWord(text) <= preferLines-len(name)-2:
		r.add(wideLine, Header, at)
	}
	for _, c := range text {
		if c >= 0x80 {
			r.add(rawText, Header, at)
			return
		}
	}
}

func longestWord(text []byte) (longest int) {
	for word := range bytes.FieldsSeq(text) {
		longest = max(longest, len(word))
	}
	return longest
}

var (
	noUnsubscribe = problem{"unsubscribe_missing", Warning, "", "Set unsubscribe, so that Postrider adds the header " +
		"fields and handles the requests."}
	notOneClick = problem{"unsubscribe_not_one_click", Warning,
		"Gmail and Yahoo require one-click unsubscribes (RFC 8058) in bulk mail; List-Unsubscribe-Post is missing.",
		"Set unsubscribe, or add List-Unsubscribe-Post: List-Unsubscribe=One-Click."}
	noVisibleLink = problem{"unsubscribe_link_missing", Warning,
		"The email has the header fields for unsubscribes, but no link in its content. Gmail and Yahoo require both " +
			"in bulk mail.", "Add a link to {{unsubscribe_url}}."}
	sharedUnsubscribe = problem{"unsubscribe_shared", Warning,
		"All recipients get the unsubscribe link of the first recipient.", "Send one email to each recipient."}
)

// inspectUnsubscribe checks whether recipients can unsubscribe where they should.
func inspectUnsubscribe(r *report, m Mail, header fields, links []Link) {
	if header == nil {
		return
	}
	targets, listed := header["List-Unsubscribe"]
	if !listed {
		p := noUnsubscribe
		switch {
		case m.Category != "":
			p.reason = "The email has a category, so recipients can opt out of it, but it has no unsubscribe link."
		case m.Recipients > 1:
			p.severity = Info
			p.reason = "An email to several recipients may be bulk mail, which requires an unsubscribe link."
		default:
			return
		}
		r.add(p, Header, Place{})
		return
	}
	if _, one := header["List-Unsubscribe-Post"]; !one {
		r.add(notOneClick, Header, Place{})
	}
	if m.Recipients > 1 && m.Managed {
		r.add(sharedUnsubscribe, Header, Place{})
	}
	if !m.showsTarget(string(targets), links) {
		r.add(noVisibleLink, Message, Place{})
	}
}

// showsTarget reports whether the content contains a target of List-Unsubscribe, or the placeholder for it.
func (m Mail) showsTarget(targets string, links []Link) bool {
	if m.Managed && (strings.Contains(m.HTML, "unsubscribe_url") || strings.Contains(m.Text, "unsubscribe_url")) {
		return true
	}
	for target := range strings.SplitSeq(targets, ",") {
		target = strings.Trim(target, " \t\r\n<>")
		if target == "" {
			continue
		}
		if strings.Contains(m.Text, target) || strings.Contains(m.HTML, target) {
			return true
		}
		for _, l := range links {
			if l.URL == target {
				return true
			}
		}
	}
	return false
}

package lint

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Severity is how much a problem harms an email.
type Severity string

// Error: recipients or filters will see a broken or suspicious email. Warning: some of them will. Info: worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Part is the part of the email that has a problem.
type Part string

// The parts. Message is the email as a whole.
const (
	HTML    Part = "html"
	Text    Part = "text"
	Subject Part = "subject"
	Header  Part = "header"
	Message Part = "message"
)

// Finding is a problem of an email.
type Finding struct {
	Code     string
	Severity Severity
	Reason   string
	Fix      string
	Part     Part
	Count    int     // number of places, at least one
	Places   []Place // the first of them; none if the whole part is concerned
}

// Place is where a problem is.
type Place struct {
	Line    int    // in the part, from 1; 0 if unknown
	Element string // the tag, URL or header field, shortened
}

// MaxPlaces is the number of places of a finding that are listed.
const MaxPlaces = 10

// Mail is an email to inspect.
type Mail struct {
	Subject    string
	HTML, Text string
	Domain     string // domain of the sender; empty: unknown
	Header     []byte // the header fields as sent; nil: not inspected
	Category   string // kind of mail that recipients can opt out of; empty: none
	Recipients int    // number of recipients; 0: unknown
	Tracked    bool   // links may have been replaced by tracked ones
	NoSubject  bool   // the subject is set elsewhere
	AutoText   bool   // a missing text part is derived from the HTML
	Managed    bool   // the unsubscribe link is inserted when the email is sent
}

// Inspect returns the problems of an email, the worst first, and the distinct links of its HTML in order.
func Inspect(m Mail) ([]Finding, []Link) {
	r := &report{byCode: map[string]*Finding{}}
	links := inspectHTML(r, m)
	inspectText(r, m)
	inspectSubject(r, m)
	header := inspectHeader(r, m.Header)
	inspectUnsubscribe(r, m, header, links)
	return r.sortFindings(), links
}

// report collects findings.
type report struct {
	byCode map[string]*Finding
	order  []*Finding
}

// problem describes a kind of finding.
type problem struct {
	code     string
	severity Severity
	reason   string
	fix      string
}

// add reports a problem of a part. An empty place concerns the whole part.
func (r *report) add(p problem, part Part, at Place) {
	key := p.code + " " + string(part)
	f, known := r.byCode[key]
	if !known {
		f = &Finding{Code: p.code, Severity: p.severity, Reason: p.reason, Fix: p.fix, Part: part}
		r.byCode[key] = f
		r.order = append(r.order, f)
	}
	f.Count++
	if at != (Place{}) && len(f.Places) < MaxPlaces {
		at.Element = Shorten(at.Element)
		f.Places = append(f.Places, at)
	}
}

func (r *report) sortFindings() []Finding {
	out := make([]Finding, 0, len(r.order))
	for _, f := range r.order {
		out = append(out, *f)
	}
	Sort(out)
	return out
}

var rank = map[Severity]int{Error: 0, Warning: 1, Info: 2}

// Sort sorts findings by severity, and keeps the order of those with the same one.
func Sort(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) })
}

// maxElement is the number of characters of an element that are reported.
const maxElement = 160

// Shorten returns the beginning of a text on one line, without invisible characters.
func Shorten(text string) string {
	const read = 4 * maxElement
	cut := len(text) > read
	if cut {
		text = text[:read]
	}
	text = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || unicode.IsSpace(c) {
			return c
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if cut || len(runes) > maxElement {
		return string(runes[:min(len(runes), maxElement)]) + "…"
	}
	return string(runes)
}

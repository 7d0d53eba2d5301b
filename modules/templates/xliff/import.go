package xliff

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
)

// The limits of a file.
const (
	MaxSize  = 4 << 20
	maxDepth = 32
	maxUnits = 20_000
)

// Translation is the content of a file for a template.
type Translation struct {
	Locale string // BCP 47
	Parts
	// Untranslated lists the units without a translation, which have the text of the source.
	Untranslated []string
}

// Import reads a file and returns the translation of a template. Errors are under `xliff`, and under `xliff.` with the
// ID of a unit.
func Import(content string, source Parts) (out Translation, wrong fault.Fields) {
	wrong = fault.Fields{}
	read, err := parse(content)
	if err != nil {
		wrong.Add("xliff", "%s", err.Error())
		return out, wrong
	}
	tag, reason := language.ParseTag(read.locale)
	if reason != "" {
		wrong.Add("xliff", "target-language %s", reason)
		return out, wrong
	}
	out.Locale = tag.String()
	d, err := cut(source)
	if err != nil {
		wrong.Add("xliff", "the template has errors: %s", err.Error())
		return out, wrong
	}
	translated := map[string][]item{}
	for _, p := range d.parts() {
		for _, u := range p.units {
			given, found := read.units[u.id]
			delete(read.units, u.id)
			if !found || isBlank(given.target) {
				out.Untranslated = append(out.Untranslated, u.id)
				continue
			}
			items, reason := u.accept(given)
			if reason != "" {
				wrong.Add("xliff."+u.id, "%s", reason)
			}
			translated[u.id] = items
		}
	}
	for id := range read.units {
		wrong.Add("xliff."+id, "is not a unit of the template; export it again")
	}
	if len(translated) == 0 && len(wrong) == 0 {
		wrong.Add("xliff", "contains no translation")
	}
	out.Subject = d.subject.write(translated)
	out.HTML = declareLanguage(d.html.write(translated), out.Locale)
	out.Text = d.text.write(translated)
	return out, wrong
}

func isBlank(items []item) bool {
	return !slices.ContainsFunc(items, func(i item) bool { return i.isCode || strings.TrimSpace(i.text) != "" })
}

// accept checks a translation against the unit, and returns it with the positions of its codes.
func (u unit) accept(given readUnit) (items []item, reason string) {
	if plainOf(given.source) != plainOf(u.items) {
		return nil, "has another source than the draft; export the template again"
	}
	var codes []item
	for _, i := range u.items {
		if i.isCode {
			codes = append(codes, i)
		}
	}
	seen := map[int]bool{}
	for _, i := range trimItems(given.target) {
		if !i.isCode {
			if _, err := language.Scan(i.text); err != nil {
				return nil, err.Error()
			}
			items = append(items, i)
			continue
		}
		if i.start < 1 || i.start > len(codes) || seen[i.start] {
			return nil, fmt.Sprintf("has the code %d twice, or the source does not have it", i.start)
		}
		seen[i.start] = true
		items = append(items, codes[i.start-1])
	}
	for n := range codes {
		if !seen[n+1] {
			return nil, fmt.Sprintf("lacks the code %d of the source", n+1)
		}
	}
	return items, ""
}

// plainOf returns the text of a unit for comparison, without white space, which tools change.
func plainOf(items []item) string {
	var b strings.Builder
	for _, i := range items {
		if i.isCode {
			b.WriteString("\x00")
		} else {
			b.WriteString(i.text)
		}
	}
	return strings.Join(strings.Fields(b.String()), "")
}

// trimItems removes the white space at both ends that tools write when they indent a document. Units have none.
func trimItems(items []item) []item {
	for len(items) > 0 && !items[0].isCode {
		if items[0].text = strings.TrimLeft(items[0].text, " \t\r\n"); items[0].text != "" {
			break
		}
		items = items[1:]
	}
	for last := len(items) - 1; last >= 0 && !items[last].isCode; last-- {
		if items[last].text = strings.TrimRight(items[last].text, " \t\r\n"); items[last].text != "" {
			break
		}
		items = items[:last]
	}
	return items
}

// readUnit is a unit of a file. Codes have their number as start.
type readUnit struct{ source, target []item }

type readFile struct {
	locale string
	units  map[string]readUnit
}

// parser reads a file without entities, external content or recursion.
type parser struct {
	decoder *xml.Decoder
	file    readFile
	files   int
	path    []string
	unit    string
	into    *[]item
	current readUnit
}

var errForm = errors.New("must be an XLIFF 1.2 document")

func parse(content string) (readFile, error) {
	if len(content) > MaxSize {
		return readFile{}, errors.New("is larger than 4 MB")
	}
	p := &parser{decoder: xml.NewDecoder(strings.NewReader(content)), file: readFile{units: map[string]readUnit{}}}
	for {
		token, err := p.decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p.file, fmt.Errorf("must be an XML document: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = p.start(t)
		case xml.EndElement:
			p.end(t.Name.Local)
		case xml.CharData:
			if p.into != nil {
				*p.into = append(*p.into, item{text: string(t)})
			}
		case xml.Directive:
			err = errors.New("cannot contain a document type")
		}
		if err != nil {
			return p.file, err
		}
	}
	if p.files == 0 {
		return p.file, errForm
	}
	return p.file, nil
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

func (p *parser) start(t xml.StartElement) error {
	name := t.Name.Local
	if len(p.path) == 0 && (name != "xliff" || t.Name.Space != Namespace || attribute(t, "version") != "1.2") {
		return errForm
	}
	if p.into != nil {
		return p.startInline(t)
	}
	if len(p.path) >= maxDepth {
		return fmt.Errorf("is nested more than %d elements deep", maxDepth)
	}
	switch {
	case name == "file":
		if p.files++; p.files > 1 {
			return errors.New("must contain one file")
		}
		p.file.locale = attribute(t, "target-language")
	case name == "trans-unit":
		p.unit, p.current = attribute(t, "id"), readUnit{}
		if _, twice := p.file.units[p.unit]; twice || p.unit == "" || len(p.unit) > 100 {
			return fmt.Errorf("has a unit without an ID, or the unit %.100q twice", p.unit)
		}
		if len(p.file.units) >= maxUnits {
			return fmt.Errorf("has more than %d units", maxUnits)
		}
	case name == "source" && p.unit != "":
		p.into = &p.current.source
	case name == "target" && p.unit != "":
		p.into = &p.current.target
	case name == "alt-trans", name == "seg-source", name == "bin-unit", name == "note":
		return p.skip()
	}
	p.path = append(p.path, name)
	return nil
}

// startInline reads an element within a source or a target. Its content is not read, except that of marks.
func (p *parser) startInline(t xml.StartElement) error {
	switch t.Name.Local {
	case "x", "ph", "bx", "ex", "bpt", "ept", "it":
		number, err := strconv.Atoi(attribute(t, "id"))
		if err != nil {
			return fmt.Errorf("unit %s: the code %.100q is not in the source", p.unit, attribute(t, "id"))
		}
		*p.into = append(*p.into, item{isCode: true, start: number})
		return p.skip()
	case "mrk":
		if len(p.path) >= maxDepth {
			return fmt.Errorf("is nested more than %d elements deep", maxDepth)
		}
		p.path = append(p.path, "mrk")
		return nil
	}
	return fmt.Errorf("unit %s: contains the element %.100q", p.unit, t.Name.Local)
}

// skip reads to the end of the element, which Decoder.Skip does without recursion.
func (p *parser) skip() error {
	if err := p.decoder.Skip(); err != nil {
		return fmt.Errorf("must be an XML document: %w", err)
	}
	return nil
}

func (p *parser) end(name string) {
	p.path = p.path[:len(p.path)-1]
	switch name {
	case "source", "target":
		p.into = nil
	case "trans-unit":
		p.file.units[p.unit] = p.current
		p.unit = ""
	}
}

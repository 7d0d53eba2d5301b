package bimi

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"

	maxDepth = 64
	maxTitle = 64 // characters
	maxNamed = 3  // forbidden things that a finding names
	maxKept  = 20 // forbidden things that are collected
)

// logoElements are the elements of SVG Tiny 1.2 without those for scripts, links, media, fonts and animation, which
// SVG Tiny PS removes.
var logoElements = []string{"svg", "title", "desc", "metadata", "defs", "g", "use", "path", "rect", "circle", "ellipse",
	"line", "polyline", "polygon", "text", "textArea", "tspan", "tbreak", "linearGradient", "radialGradient", "stop",
	"solidColor"}

// logo is what was found in an SVG image.
type logo struct {
	root      xml.StartElement
	title     string
	titles    int
	forbidden []string // each once, in the order of the file
}

// checkLogo returns the findings about the content of an SVG image.
func checkLogo(data []byte) []Finding {
	l, err := parseLogo(data)
	if err != nil {
		return []Finding{{Code: "logo_content", State: Broken, Found: "The logo is not an SVG image: " + err.Error() + ".",
			Fix: "Export the logo as SVG Tiny PS."}}
	}
	return []Finding{l.checkProfile(), l.checkShape(), l.checkTitle(), l.checkContent()}
}

// parseLogo reads all elements. The decoder of encoding/xml knows no entities except the five of XML, and expands none.
func parseLogo(data []byte) (*logo, error) {
	l := &logo{}
	d := xml.NewDecoder(bytes.NewReader(data))
	var path []string
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && l.root.Name.Local != "":
			return l, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("it has no elements")
		case err != nil:
			return nil, errors.New("its XML is invalid, or not UTF-8")
		}
		switch t := token.(type) {
		case xml.Directive:
			if bytes.ContainsAny(t, "[<") || bytes.Contains(t, []byte("ENTITY")) {
				return nil, errors.New("its document type contains declarations")
			}
		case xml.StartElement:
			path = append(path, t.Name.Local)
			if err := l.startElement(t, path); err != nil {
				return nil, err
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.ProcInst:
			if t.Target != "xml" {
				l.forbid("the instruction " + quote(t.Target))
			}
		case xml.CharData:
			if slices.Equal(path, []string{"svg", "title"}) {
				l.title += string(t)
			}
		}
	}
}

// startElement adds the element at a path. Error: the element cannot be there.
func (l *logo) startElement(e xml.StartElement, path []string) error {
	switch {
	case len(path) > maxDepth:
		return fmt.Errorf("more than %d elements are nested", maxDepth)
	case len(path) == 1 && e.Name != (xml.Name{Space: svgSpace, Local: "svg"}):
		return errors.New("its root is not the element svg in the SVG namespace")
	case len(path) == 1:
		l.root = e.Copy()
	}
	l.addElement(e, path)
	return nil
}

func (l *logo) forbid(what string) {
	if len(l.forbidden) < maxKept && !slices.Contains(l.forbidden, what) {
		l.forbidden = append(l.forbidden, what)
	}
}

// addElement collects an element that is not allowed, or has attributes that are not.
func (l *logo) addElement(e xml.StartElement, path []string) {
	if len(path) == 2 && e.Name == (xml.Name{Space: svgSpace, Local: "title"}) {
		l.titles++
	}
	switch {
	case e.Name.Space != svgSpace:
		if !slices.Contains(path[:len(path)-1], "metadata") {
			l.forbid("the element " + quote(e.Name.Local) + " of another namespace")
		}
	case !slices.Contains(logoElements, e.Name.Local) || len(path) > 1 && e.Name.Local == "svg":
		l.forbid("the element " + quote(e.Name.Local))
	}
	for _, a := range e.Attr {
		name := strings.ToLower(a.Name.Local)
		switch {
		case name == "href" && !strings.HasPrefix(strings.TrimSpace(a.Value), "#"):
			l.forbid("the external reference " + quote(a.Value))
		case refersOutside(a.Value) && a.Name.Space != "xmlns" && a.Name.Local != "xmlns":
			l.forbid("the external reference " + quote(a.Value))
		case a.Name.Space != "" && a.Name.Space != xlinkSpace && a.Name.Space != xmlSpace && a.Name.Space != "xmlns":
			// Editors keep their own data in such attributes, which renderers ignore.
		case strings.HasPrefix(name, "on"):
			l.forbid("the event handler " + quote(a.Name.Local))
		case name == "style" || name == "class":
			l.forbid("the attribute " + quote(a.Name.Local))
		case len(path) == 1 && (name == "x" || name == "y"):
			l.forbid("the attribute " + quote(a.Name.Local) + " of the root")
		}
	}
}

// refersOutside reports whether a value contains url() with a target outside of the file.
func refersOutside(value string) bool {
	rest := strings.ToLower(value)
	for {
		_, after, found := strings.Cut(rest, "url(")
		if !found {
			return false
		}
		if !strings.HasPrefix(strings.TrimLeft(after, " \t\r\n'\""), "#") {
			return true
		}
		rest = after
	}
}

func (l *logo) attribute(name string) string {
	for _, a := range l.root.Attr {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (l *logo) checkProfile() Finding {
	version, profile := l.attribute("version"), l.attribute("baseProfile")
	if version == "1.2" && profile == "tiny-ps" {
		return Finding{Code: "logo_profile", State: Met, Found: "The logo declares SVG Tiny PS."}
	}
	return Finding{Code: "logo_profile", State: Broken,
		Found: fmt.Sprintf("The root declares version %s and baseProfile %s.", quote(version), quote(profile)),
		Fix:   `Export the logo as SVG Tiny PS: the root must declare version="1.2" and baseProfile="tiny-ps".`}
}

func (l *logo) checkShape() Finding {
	box := l.attribute("viewBox")
	parts := strings.FieldsFunc(box, func(r rune) bool { return strings.ContainsRune(" ,\t\r\n", r) })
	var size [4]float64
	for i, part := range parts {
		value, err := strconv.ParseFloat(part, 64)
		if err != nil || i == len(size) {
			parts = nil
			break
		}
		size[i] = value
	}
	f := Finding{Code: "logo_shape", State: Broken, Fix: `Set a square viewBox on the root, such as viewBox="0 0 512 512".`}
	switch {
	case box == "":
		f.Found = "The root has no viewBox."
	case len(parts) != len(size) || !(size[2] > 0) || !(size[3] > 0): // not a number is refused too
		f.Found = fmt.Sprintf("The viewBox %s is invalid.", quote(box))
	case size[2] != size[3]:
		f.Found = fmt.Sprintf("The viewBox %s is not square.", quote(box))
	default:
		f.State, f.Found, f.Fix = Met, "The logo is square.", ""
	}
	return f
}

func (l *logo) checkTitle() Finding {
	title := strings.TrimSpace(l.title)
	f := Finding{Code: "logo_title", State: Broken, Fix: "Add one <title> below the root, with the name of the brand."}
	switch length := utf8.RuneCountInString(title); {
	case l.titles > 1:
		f.Found = fmt.Sprintf("The logo has %d titles.", l.titles)
	case title == "":
		f.Found = "The logo has no title."
	case length > maxTitle:
		f.State, f.Found = Close, fmt.Sprintf("The title has %d characters.", length)
		f.Fix = fmt.Sprintf("Shorten the title to at most %d characters.", maxTitle)
	default:
		f.State, f.Found, f.Fix = Met, fmt.Sprintf("The title is %s.", quote(title)), ""
	}
	return f
}

func (l *logo) checkContent() Finding {
	if len(l.forbidden) == 0 {
		return Finding{Code: "logo_content", State: Met, Found: "The logo contains only what SVG Tiny PS allows."}
	}
	named := strings.Join(l.forbidden[:min(len(l.forbidden), maxNamed)], ", ")
	if len(l.forbidden) > maxNamed {
		named += " and more"
	}
	return Finding{Code: "logo_content", State: Broken, Found: "SVG Tiny PS does not allow " + named + ".",
		Fix: "Remove scripts, animations, images, external references and styles from the logo."}
}

package mailhtml

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits on selector matching. If a selector does not match, cascadia backtracks over every ancestor and
// sibling, and cannot be interrupted.
const (
	maxSteps    = 10_000_000  // worst case for one selector at one element
	maxMatching = time.Second // for all selectors at all elements
)

var (
	errSelector = errors.New("a selector is too complex")
	errSlow     = errors.New("its selectors take too long")
)

// document is a parsed HTML document.
type document struct {
	root, head      *html.Node
	elements        []*html.Node
	depth, siblings int // maximum
}

func parseDocument(source string) (*document, error) {
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return nil, fmt.Errorf("the HTML cannot be parsed: %w", err)
	}
	d := &document{root: root}
	d.addNode(root, 0)
	return d, nil
}

func (d *document) addNode(n *html.Node, depth int) {
	if n.Type == html.ElementNode {
		d.elements = append(d.elements, n)
		if d.head == nil && n.DataAtom == atom.Head {
			d.head = n
		}
	}
	d.depth = max(d.depth, depth)
	children := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		children++
		d.addNode(c, depth+1)
	}
	d.siblings = max(d.siblings, children)
}

// inline moves the rules of <style> into style attributes and returns the document.
func (d *document) inline() (string, error) {
	sheet, err := d.takeStylesheet()
	if err != nil {
		return "", err
	}
	until := time.Now().Add(maxMatching)
	moved := map[*html.Node][]winningDeclaration{}
	for _, r := range sheet.rules {
		nodes, err := d.findElements(r.selector, until)
		if err != nil {
			return "", err
		}
		if len(nodes) == 0 {
			sheet.keepUnmatched(r)
		}
		for _, n := range nodes {
			for _, declaration := range r.declarations {
				moved[n] = append(moved[n], winningDeclaration{declaration, r.weight})
			}
		}
	}
	styles := map[*html.Node]style{}
	for n, declarations := range moved {
		styles[n] = resolveStyle(n, declarations)
	}
	applies, err := d.compareRanks(sheet.stay, styles, until)
	if err != nil {
		return "", err
	}
	promoteDeclarations(sheet.stay)
	for n, s := range styles {
		if raised := s.adjustImportance(applies[n]); raised || len(moved[n]) > 0 {
			s.write(n)
		}
		if time.Now().After(until) {
			return "", errSlow
		}
	}
	if len(sheet.rest) > 0 {
		appendStyle(d.head, sheet.formatKept())
	}
	var b strings.Builder
	err = html.Render(&b, d.root)
	return b.String(), err
}

// takeStylesheet removes the <style> elements and returns their rules, sorted by weight.
func (d *document) takeStylesheet() (sheet stylesheet, err error) {
	for _, n := range d.elements {
		if n.DataAtom != atom.Style || n.Namespace != "" {
			continue
		}
		if n.FirstChild != nil {
			media := strings.TrimSpace(attributeOf(n, "media"))
			if strings.EqualFold(media, "all") {
				media = ""
			}
			if err := sheet.parse(n.FirstChild.Data, media); err != nil {
				return sheet, err
			}
		}
		n.Parent.RemoveChild(n)
	}
	slices.SortFunc(sheet.rules, func(a, b rule) int { return slices.Compare(a.weight, b.weight) })
	return sheet, nil
}

// findElements returns the elements that a selector matches.
func (d *document) findElements(selector string, until time.Time) (found []*html.Node, err error) {
	if d.countSteps(selector) > maxSteps {
		return nil, errSelector
	}
	matcher, err := cascadia.Compile(selector)
	if err != nil {
		return nil, nil //nolint:nilerr // an invalid selector matches nothing
	}
	for _, n := range d.elements {
		if matcher(n) {
			found = append(found, n)
		}
		if time.Now().After(until) {
			return nil, errSlow
		}
	}
	return found, nil
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"|'[^']*'|\[[^\]]*\]`)
	joints   = regexp.MustCompile(`\s*([>+~(),])\s*`)
	ofPlace  = regexp.MustCompile(`(?i):(nth-|only-|last-|first-)`)
	ofInside = regexp.MustCompile(`(?i):(has|haschild|contains|containsown|matches|matchesown)\(`)
)

// countSteps returns the worst-case cost of a selector at one element: each space walks the ancestors, each ~ walks
// the siblings, and some pseudo-classes walk siblings or all elements.
func (d *document) countSteps(selector string) float64 {
	plain := strings.TrimSpace(joints.ReplaceAllString(quoted.ReplaceAllString(selector, ""), "$1"))
	steps := countChoices(d.depth, len(strings.Fields(plain))-1) * countChoices(d.siblings, strings.Count(plain, "~"))
	if ofPlace.MatchString(plain) {
		steps *= float64(max(1, d.siblings))
	}
	for range ofInside.FindAllString(plain, -1) {
		steps *= float64(len(d.elements))
	}
	return steps
}

// countChoices returns the number of ways to choose k of n.
func countChoices(n, k int) float64 {
	ways := 1.0
	for i := range min(k, n) {
		ways *= float64(n-i) / float64(i+1)
	}
	return max(1, ways)
}

package mailhtml

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"github.com/vanng822/css"
	"golang.org/x/net/html"
)

// What finding the elements of selectors may take. The inliner tries every element, goes back from
// every ancestor and every sibling of a selector that does not fit in the end, and cannot be stopped.
const (
	maxSteps    = 10_000_000  // of one selector at one element, in the worst case
	maxMatching = time.Second // all selectors at all elements
)

var (
	errSelector = errors.New("a selector combines too much")
	errSlow     = errors.New("its selectors take too long")
)

// tree is what finding elements depends on.
type tree struct {
	elements        []*html.Node
	styles          []string // texts of <style>
	depth, siblings int
}

func (t *tree) add(n *html.Node, depth int) {
	if n.Type == html.ElementNode {
		t.elements = append(t.elements, n)
		if n.Data == "style" && n.FirstChild != nil {
			t.styles = append(t.styles, n.FirstChild.Data)
		}
	}
	t.depth = max(t.depth, depth)
	children := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		children++
		t.add(c, depth+1)
	}
	t.siblings = max(t.siblings, children)
}

// checkSelectors returns an error where the inliner would be busy for long. It asks what the inliner
// will, with an eye on the clock between two answers; what a single answer may take it estimates.
func checkSelectors(source string) error {
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return fmt.Errorf("the HTML cannot be read: %w", err)
	}
	var t tree
	t.add(root, 0)
	until := time.Now().Add(maxMatching)
	for _, style := range t.styles {
		for _, rule := range css.Parse(style).GetCSSRuleList() {
			if rule.Type != css.STYLE_RULE {
				continue
			}
			for selector := range strings.SplitSeq(rule.Style.Selector.Text(), ",") {
				if err := t.check(selector, until); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (t *tree) check(selector string, until time.Time) error {
	if strings.Contains(selector, "*") { // the inliner leaves it where it is
		return nil
	}
	if t.steps(selector) > maxSteps {
		return errSelector
	}
	if matcher, err := cascadia.Compile(selector); err == nil { // what cannot be read fits nothing
		for _, element := range t.elements {
			if matcher(element); time.Now().After(until) {
				return errSlow
			}
		}
	}
	return nil
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"|'[^']*'|\[[^\]]*\]`)
	joints   = regexp.MustCompile(`\s*([>+~(),])\s*`)
	ofPlace  = regexp.MustCompile(`(?i):(nth-|only-|last-|first-)`)
	ofInside = regexp.MustCompile(`(?i):(has|haschild|contains|containsown|matches|matchesown)\(`)
)

// steps is what a selector takes at one element in the worst case: each space goes through the
// ancestors, each ~ through the siblings, and some pseudo-classes through siblings or through all there is.
func (t *tree) steps(selector string) float64 {
	plain := strings.TrimSpace(joints.ReplaceAllString(quoted.ReplaceAllString(selector, ""), "$1"))
	steps := choices(t.depth, len(strings.Fields(plain))-1) * choices(t.siblings, strings.Count(plain, "~"))
	if ofPlace.MatchString(plain) {
		steps *= float64(max(1, t.siblings))
	}
	for range ofInside.FindAllString(plain, -1) {
		steps *= float64(len(t.elements))
	}
	return steps
}

// choices is in how many ways k of n can be chosen.
func choices(n, k int) float64 {
	ways := 1.0
	for i := range min(k, n) {
		ways *= float64(n-i) / float64(i+1)
	}
	return max(1, ways)
}

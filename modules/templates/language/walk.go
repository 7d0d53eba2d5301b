package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/osteele/liquid/render"
)

// findings is the result of walking one source.
type findings struct {
	paths     map[string]int // variables used, except loop variables, with the line of their first use
	localized bool           // a filter depends on the locale
	markdown  bool
	trusted   []TrustedOutput
}

// TrustedOutput is an output that is inserted into html without escaping.
type TrustedOutput struct {
	Expression string

	line int // in the flat source
}

// walker checks the syntax tree of a source against an allow-list, so that additions in later versions of the
// library are rejected until they are reviewed.
type walker struct {
	html  bool
	tick  render.Node // inserted at the start of every loop body
	found findings
}

// scope is the context of a node in the tree.
type scope struct {
	names  []string // loop variables
	loops  int
	blocks int
}

func (w *walker) walkSequence(nodes []render.Node, s scope) error {
	for _, n := range nodes {
		if err := w.walkNode(n, s); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) walkNode(n render.Node, s scope) error {
	switch n := n.(type) {
	case *render.SeqNode:
		return w.walkSequence(n.Children, s)
	case *render.TextNode, *render.RawNode, *render.TrimNode:
		return nil
	case *render.ObjectNode:
		_, err := w.walkExpression(n.Args, n.SourceLoc.LineNo, false, true, s)
		return err
	case *render.TagNode:
		if (n.Name == "break" || n.Name == "continue") && s.loops > 0 {
			return nil
		}
		return &problem{line: n.SourceLoc.LineNo, near: n.Name,
			text: fmt.Sprintf("the tag {%% %s %%} is not allowed here", n.Name)}
	case *render.BlockNode:
		return w.walkBlock(n, s)
	default:
		return &problem{line: 1, text: fmt.Sprintf("contains an unknown kind of node (%T)", n)}
	}
}

func (w *walker) walkBlock(n *render.BlockNode, s scope) error {
	line := n.SourceLoc.LineNo
	if s.blocks++; s.blocks > maxNesting {
		return &problem{line: line, near: n.Args, text: fmt.Sprintf("blocks are nested more than %d deep", maxNesting)}
	}
	outer := s
	switch n.Name {
	case "if", "unless", "case":
		if _, err := w.walkExpression(n.Args, line, false, false, s); err != nil {
			return err
		}
	case "for":
		u, err := w.walkExpression(n.Args, line, true, false, s)
		if err != nil {
			return err
		}
		if s.loops++; s.loops > maxLoops {
			return &problem{line: line, near: n.Args, text: fmt.Sprintf("{%% for %%} is nested more than %d deep", maxLoops)}
		}
		s.names = append(slices.Clip(s.names), u.loop, "forloop")
	default:
		return &problem{line: line, near: n.Name, text: fmt.Sprintf("the tag {%% %s %%} is not allowed", n.Name)}
	}
	if err := w.walkSequence(n.Body, s); err != nil {
		return err
	}
	if n.Name == "for" {
		n.Body = append([]render.Node{w.tick}, n.Body...)
	}
	for _, c := range n.Clauses {
		if c.Name == "elsif" || c.Name == "when" {
			if _, err := w.walkExpression(c.Args, c.SourceLoc.LineNo, false, false, outer); err != nil {
				return err
			}
		}
		if err := w.walkSequence(c.Body, outer); err != nil {
			return err
		}
	}
	return nil
}

// walkExpression checks the text of an expression and records its variables.
func (w *walker) walkExpression(text string, line int, isLoop, isOutput bool, s scope) (usage, error) {
	u, ok := parseUsage(text, isLoop)
	switch {
	case !ok:
		return u, &problem{line: line, near: text, text: fmt.Sprintf("cannot read %q", text)}
	case u.ranges:
		return u, &problem{line: line, near: text, text: "ranges such as (1..5) are not allowed"}
	}
	for i, f := range u.filters {
		if !isFilter(f.name) {
			return u, &problem{line: line, near: text, text: fmt.Sprintf("there is no filter %s", f.name)}
		}
		if reason := f.refusal(); reason != "" {
			return u, &problem{line: line, near: text, text: f.name + " " + reason}
		}
		isMarkup := f.name == breakLines || f.name == markdown || f.name == trustedHTML
		if isMarkup && (!isOutput || i < len(u.filters)-1) {
			return u, &problem{line: line, near: text, text: f.name + " must be the last filter of an output"}
		}
		w.found.localized = w.found.localized || slices.Contains(localized, f.name)
		w.found.markdown = w.found.markdown || f.name == markdown
		if f.name == trustedHTML && w.html {
			w.found.trusted = append(w.found.trusted, TrustedOutput{strings.TrimSpace(text), line})
		}
	}
	for _, path := range u.paths {
		root, _, _ := strings.Cut(path, ".")
		if _, known := w.found.paths[path]; !known && !slices.Contains(s.names, root) && path != unsubscribeURL {
			w.found.paths[path] = line
		}
	}
	return u, nil
}

package language

import (
	"fmt"
	"slices"
	"strings"
)

// The limits of a source with its components.
const (
	MaxComponents = 20
	maxRenders    = 5           // levels of render
	maxExpanded   = 2 * maxTags // tags that an expansion reads
)

// FindComponent returns a component by its kind and name. The reason is empty if there is one.
type FindComponent func(kind, name string) (c Component, reason string)

// Flat is a source without tags of components. It knows which component each of its parts comes from.
type Flat struct {
	Source string

	pieces []piece // in order; nil: the source is as its author wrote it
}

// piece is a part of a flat source.
type piece struct {
	start  int // in the flat source
	from   *outline
	at     int  // in the source of the component
	isText bool // copied byte by byte
}

// Expander expands the sources of one template: its html and text in all languages. It checks each source of a
// component once. The zero value is ready to use. It is not safe for concurrent use.
type Expander struct{ checked map[componentSource]*outline }

// componentSource identifies a checked source of a component.
type componentSource struct {
	engine             *Engine
	kind, name, source string
}

// Expand replaces the layout and the partials of a source. The source of a layout keeps the default content of its
// blocks, and the variables of a partial are its arguments. The error is a sentence for the author, with the component
// and the position.
//
// The size of the result and the number of tags are checked while it is built, because partials that render partials
// grow exponentially.
func (r *Expander) Expand(e *Engine, name string, root Component, find FindComponent) (flat Flat, err error) {
	if root.Kind == KindTemplate && !mayUseComponents(root.Source) {
		return Flat{Source: root.Source}, nil
	}
	o, err := e.prepare(name, root, true)
	if err != nil {
		return Flat{}, err
	}
	if root.Kind == KindTemplate && !o.checks {
		return Flat{Source: root.Source}, nil
	}
	x := &expansion{expander: r, engine: e, field: name, find: find, known: map[string]*outline{}}
	s := partScope{}
	if root.Kind == KindPartial {
		s.path = []string{root.Name}
		if s.arguments, err = ownArguments(o); err != nil {
			return Flat{}, err
		}
	}
	whole := part{tags: o.tags, end: len(root.Source)}
	frame := o
	if o.layout != "" {
		if frame, err = x.load(o, o.tags[0], KindLayout, o.layout); err != nil {
			return Flat{}, err
		}
		if err := checkBlocks(o, frame); err != nil {
			return Flat{}, err
		}
		whole = part{tags: frame.tags, end: len(frame.Source)}
		x.filled = o
	}
	if err := x.expand(frame, whole, s); err != nil {
		return Flat{}, err
	}
	return Flat{Source: x.out.String(), pieces: x.pieces}, nil
}

// checkBlocks returns an error if a template has a block that its layout does not have.
func checkBlocks(o, layout *outline) error {
	for _, t := range o.tags {
		if t.name != "block" {
			continue
		}
		name, err := o.quotedName(t)
		if err != nil {
			return err
		}
		if _, exists := layout.blocks[name]; !exists {
			return o.problemAt(t.Start, "the layout %s has no block %s", layout.Name, name)
		}
	}
	return nil
}

// expansion builds one flat source.
type expansion struct {
	expander *Expander
	engine   *Engine
	field    string
	find     FindComponent
	known    map[string]*outline
	filled   *outline // the template whose blocks replace those of the layout
	out      strings.Builder
	pieces   []piece
	last     byte // of out
	tags     int
}

// load returns a component that a tag names.
func (x *expansion) load(by *outline, t tag, kind, name string) (*outline, error) {
	key := kind + " " + name
	if known := x.known[key]; known != nil {
		return known, nil
	}
	if len(x.known) == MaxComponents {
		return nil, by.problemAt(t.Start, "there are more than %d layouts and partials", MaxComponents)
	}
	found, reason := x.find(kind, name)
	if reason != "" {
		return nil, by.problemAt(t.Start, "%s", reason)
	}
	found.Kind, found.Name = kind, name
	source := componentSource{x.engine, kind, name, found.Source}
	o := x.expander.checked[source]
	if o == nil {
		var err error
		if o, err = x.engine.prepare(x.field, found, false); err != nil {
			return nil, err
		}
		if x.expander.checked == nil {
			x.expander.checked = map[componentSource]*outline{}
		}
		x.expander.checked[source] = o
	}
	x.known[key] = o
	return o, nil
}

// write appends a piece of a component.
func (x *expansion) write(o *outline, at int, text string, isText bool) error {
	switch {
	case text == "":
		return nil
	case x.out.Len()+len(text) > MaxSource:
		return o.problemAt(at, "the source is larger than 1 MB with its layout and partials")
	case x.last == '{' && (text[0] == '{' || text[0] == '%'):
		return o.problemAt(at, "%q follows { of another component, so that they would form a tag", text[:1])
	}
	x.pieces = append(x.pieces, piece{start: x.out.Len(), from: o, at: at, isText: isText})
	x.out.WriteString(text)
	x.last = text[len(text)-1]
	return nil
}

// expand appends a part of a component with its own components expanded.
func (x *expansion) expand(o *outline, p part, s partScope) error {
	at := p.start
	var open []string
	trim := false
	text := func(to int, before bool) error {
		start, piece := at, o.Source[at:to]
		if trim {
			piece = strings.TrimLeft(piece, spaces)
			start = to - len(piece)
		}
		if before {
			piece = strings.TrimRight(piece, spaces)
		}
		return x.write(o, start, piece, true)
	}
	for i := 0; i < len(p.tags); i++ {
		t := p.tags[i]
		if x.tags++; x.tags > maxExpanded {
			return o.problemAt(t.Start, "there are more than %d tags with the layout and the partials", maxExpanded)
		}
		isRemoved := isComponentTag(t.name)
		if err := text(t.Start, isRemoved && t.trimLeft); err != nil {
			return err
		}
		at, trim = t.End, isRemoved && t.trimRight
		switch {
		case t.name == "block":
			end, err := x.expandBlock(o, p, i, s)
			if err != nil {
				return err
			}
			i, at, trim = end, p.tags[end].End, p.tags[end].trimRight
		case t.name == "render":
			if err := x.render(o, t, s); err != nil {
				return err
			}
		case isRemoved:
		case s.arguments == nil:
			if err := x.write(o, t.Start, o.Source[t.Start:t.End], false); err != nil {
				return err
			}
		default:
			if err := x.writeRewritten(o, t, &s, &open); err != nil {
				return err
			}
		}
	}
	return text(p.end, false)
}

// expandBlock appends the content of a block of a layout: that of the template if it has one, else the default. It
// returns the index of the tag that ends the block.
func (x *expansion) expandBlock(o *outline, p part, i int, s partScope) (end int, err error) {
	name, err := o.quotedName(p.tags[i])
	if err != nil {
		return 0, err
	}
	content, from := o.blocks[name], o
	end = i + len(content.tags) + 1
	if x.filled != nil {
		if own, fills := x.filled.blocks[name]; fills {
			content, from = own, x.filled
		}
	}
	return end, x.expand(from, content, s)
}

// render appends a partial.
func (x *expansion) render(o *outline, t tag, s partScope) error {
	name, given, err := o.readRender(t)
	if err != nil {
		return err
	}
	path := append(slices.Clip(s.path), name)
	switch {
	case slices.Contains(s.path, name):
		return o.problemAt(t.Start, "the partials form a cycle: %s", strings.Join(path, " > "))
	case len(path) > maxRenders:
		return o.problemAt(t.Start, "{%% render %%} is nested more than %d deep: %s", maxRenders, strings.Join(path, " > "))
	}
	partial, err := x.load(o, t, KindPartial, name)
	if err != nil {
		return err
	}
	arguments, err := s.bind(o, t, partial, given)
	if err != nil {
		return err
	}
	return x.expand(partial, part{tags: partial.tags, end: len(partial.Source)}, partScope{arguments: arguments, path: path})
}

// find returns the piece at a position of the flat source, and the position in its component.
func (f Flat) find(at int) (from *outline, position int) {
	i, exact := slices.BinarySearchFunc(f.pieces, at, func(p piece, at int) int { return p.start - at })
	if !exact {
		i--
	}
	if i < 0 {
		return nil, at
	}
	p := f.pieces[i]
	if p.isText {
		return p.from, min(p.at+at-p.start, len(p.from.Source))
	}
	return p.from, p.at
}

// explain returns a problem in the flat source with its component and its position there.
func (f Flat) explain(p *problem) *problem {
	if len(f.pieces) == 0 {
		return p
	}
	from, at := f.find(offsetOf(f.Source, p.line, max(p.column, 1)))
	if from == nil {
		return p
	}
	return from.problemAt(at, "%s", p.text)
}

// offsetOf returns the position of a line and a column, which both start at 1. Columns are in characters.
func offsetOf(source string, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(source[at:], '\n')
		if next < 0 {
			return len(source)
		}
		at += next + 1
	}
	for i := range source[at:] {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(source)
}

// Place describes where a tag of the flat source comes from, such as "line 3" or "layout base, line 3".
type Place struct {
	Component string // such as "layout base"; empty: the source itself
	Line      int
}

func (p Place) String() string {
	if p.Component == "" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("%s, line %d", p.Component, p.Line)
}

// place returns the origin of the tag in a line that contains a text.
func (f Flat) place(line int, near string) Place {
	p := &problem{line: line, near: near}
	if len(f.pieces) == 0 {
		return Place{Line: line}
	}
	if spans, err := Scan(f.Source); err == nil {
		p = p.locate(f.Source, spans)
	}
	p = f.explain(p)
	return Place{Component: p.component, Line: p.line}
}

package language

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Kinds of a component.
const (
	KindTemplate = "template"
	KindLayout   = "layout"  // the frame of templates, with blocks that they fill
	KindPartial  = "partial" // a piece that templates and layouts render with arguments
)

// Kinds lists the kinds of components.
func Kinds() []string { return []string{KindTemplate, KindLayout, KindPartial} }

// Component is a source that can use layouts and partials, or be one.
type Component struct {
	Kind      string
	Name      string // alias; may be empty for the source that is expanded
	Source    string
	Variables []shape.Variable // of a partial: its arguments
}

// label names a component in errors. The source that is expanded has no label.
func (c Component) label() string { return c.Kind + " " + c.Name }

// tag is a tag outside raw and comment.
type tag struct {
	Span

	name      string // empty: an output
	arguments string
	offset    int  // of the arguments in the source
	trimLeft  bool // {%- or {{-
	trimRight bool
}

var tagForm = regexp.MustCompile(`^-?\s*(\w+)`)

// newTag parses a span. Scan has checked its form.
func newTag(source string, s Span) tag {
	t := tag{Span: s}
	from, to := s.Start+2, s.End-2
	if t.trimLeft = source[from] == '-'; t.trimLeft {
		from++
	}
	if t.trimRight = to > from && source[to-1] == '-'; t.trimRight {
		to--
	}
	if source[s.Start+1] == '%' {
		if name := tagForm.FindStringSubmatchIndex(source[from:to]); name != nil {
			t.name = source[from+name[2] : from+name[3]]
			from += name[3]
		}
	}
	t.arguments, t.offset = source[from:to], from
	return t
}

// part is the content of a block: the tags between its two tags, and the text around them.
type part struct {
	tags       []tag
	start, end int // in the source
}

const spaces = " \t\r\n\f\v"

// outline is the structure of a component.
type outline struct {
	Component

	tags   []tag
	layout string // name of the layout of a template
	blocks map[string]part
	ends   map[int]int // position of the tag block to that of its endblock, by index in tags
	isRoot bool
	checks bool // has tags of components
}

// problemAt returns an error at a position of the source.
func (o *outline) problemAt(at int, format string, values ...any) *problem {
	p := &problem{line: 1 + strings.Count(o.Source[:at], "\n"), column: columnOf(o.Source, at),
		text: fmt.Sprintf(format, values...)}
	return o.addLabel(p)
}

func (o *outline) addLabel(p *problem) *problem {
	if !o.isRoot {
		p.component = o.label()
	}
	return p
}

// mayUseComponents reports whether a source may have tags of components.
func mayUseComponents(source string) bool {
	return strings.Contains(source, "layout") || strings.Contains(source, "block") || strings.Contains(source, "render")
}

// Check checks a source on its own: its tags, and the form of the tags of components. The components that it names
// need not exist. If the kind is empty, the source may be of any kind.
func (e *Engine) Check(name string, c Component) error {
	_, err := e.prepare(name, c, true)
	return err
}

// prepare checks a component on its own and returns its structure.
func (e *Engine) prepare(name string, c Component, isRoot bool) (*outline, error) {
	o := &outline{Component: c, isRoot: isRoot, blocks: map[string]part{}, ends: map[int]int{}}
	spans, err := Scan(c.Source)
	if err == nil {
		err = o.readTags(spans)
	}
	if err == nil && o.checks {
		err = o.readStructure()
	}
	if err == nil {
		err = e.compileAlone(name, o.blank())
	}
	if found, is := err.(*problem); is && found.component == "" { //nolint:errorlint // not wrapped in this package
		return nil, o.addLabel(found)
	}
	if err != nil && !isRoot {
		return nil, fmt.Errorf("%s: %w", o.label(), err)
	}
	return o, err
}

func (e *Engine) compileAlone(name, source string) error {
	_, err := e.Compile(name, source)
	return err
}

// readTags collects the tags outside raw and comment.
func (o *outline) readTags(spans []Span) error {
	verbatim := ""
	start := 0
	for _, s := range spans {
		t := newTag(o.Source, s)
		switch {
		case verbatim != "":
			if t.name == "end"+verbatim {
				verbatim = ""
			}
		case t.name == "raw", t.name == "comment":
			verbatim, start = t.name, s.Start
		default:
			o.checks = o.checks || isComponentTag(t.name)
			o.tags = append(o.tags, t)
		}
	}
	if verbatim != "" && (o.checks || o.Kind == KindLayout || o.Kind == KindPartial) {
		return o.problemAt(start, "{%% %s %%} has no {%% end%s %%}", verbatim, verbatim)
	}
	return nil
}

func isComponentTag(name string) bool {
	return name == "layout" || name == "block" || name == "endblock" || name == "render"
}

// blank returns the source with spaces in place of the tags of components, so that every position stays the same.
func (o *outline) blank() string {
	var b strings.Builder
	at := 0
	for _, t := range o.tags {
		if !isComponentTag(t.name) {
			continue
		}
		b.WriteString(o.Source[at:t.Start])
		for _, r := range o.Source[t.Start:t.End] {
			if r != '\n' {
				r = ' '
			}
			b.WriteRune(r)
		}
		at = t.End
	}
	b.WriteString(o.Source[at:])
	return b.String()
}

var openingTags = []string{"if", "unless", "case", "for", "block"}

// readStructure finds the layout and the blocks, and checks where the tags of components are.
func (o *outline) readStructure() error {
	var open []int // tags that are not closed yet
	var block string
	for i, t := range o.tags {
		top := ""
		if len(open) > 0 {
			top = o.tags[open[len(open)-1]].name
		}
		if o.layout != "" && block == "" && t.name != "block" {
			return o.problemAt(t.Start, "a template with a layout consists of blocks; move this into a block")
		}
		switch {
		case t.name == "layout":
			if err := o.readLayout(i); err != nil {
				return err
			}
		case t.name == "block":
			name, err := o.openBlock(t, open, block)
			if err != nil {
				return err
			}
			block = name
			open = append(open, i)
		case t.name == "endblock":
			if top != "block" || strings.TrimSpace(t.arguments) != "" {
				return o.problemAt(t.Start, "{%% endblock %%} must close a {%% block %%}")
			}
			begin := open[len(open)-1]
			o.blocks[block] = o.trim(part{tags: o.tags[begin+1 : i], start: o.tags[begin].End, end: t.Start},
				o.tags[begin].trimRight, t.trimLeft)
			o.ends[begin], block, open = i, "", open[:len(open)-1]
		case slices.Contains(openingTags, t.name):
			open = append(open, i)
		case strings.HasPrefix(t.name, "end"):
			if top == "" || "end"+top != t.name {
				return o.problemAt(t.Start, "{%% %s %%} does not close a tag", t.name)
			}
			open = open[:len(open)-1]
		case top == "block" && (t.name == "else" || t.name == "elsif" || t.name == "when"):
			return o.problemAt(t.Start, "{%% %s %%} must be in the same block as its {%% if %%} or {%% case %%}", t.name)
		}
	}
	if len(open) > 0 {
		t := o.tags[open[len(open)-1]]
		return o.problemAt(t.Start, "{%% %s %%} has no {%% end%s %%}", t.name, t.name)
	}
	return o.checkTextAroundBlocks()
}

// trim returns a part without the white space that the tags around it remove.
func (o *outline) trim(p part, begins, ends bool) part {
	first, last := p.end, p.start
	if len(p.tags) > 0 {
		first, last = p.tags[0].Start, p.tags[len(p.tags)-1].End
	}
	if begins {
		p.start = first - len(strings.TrimLeft(o.Source[p.start:first], spaces))
	}
	if last = max(last, p.start); ends {
		p.end = last + len(strings.TrimRight(o.Source[last:p.end], spaces))
	}
	return p
}

func (o *outline) readLayout(i int) error {
	t := o.tags[i]
	if o.Kind == KindLayout || o.Kind == KindPartial {
		return o.problemAt(t.Start, "only templates can have a layout")
	}
	if i > 0 || strings.TrimSpace(o.Source[:t.Start]) != "" {
		return o.problemAt(t.Start, "{%% layout %%} must be at the beginning")
	}
	name, err := o.quotedName(t)
	o.layout = name
	return err
}

// componentName is the form of the names of components and blocks.
var componentName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// quotedName returns the name that is the only argument of a tag.
func (o *outline) quotedName(t tag) (string, error) {
	if list, ok := splitTokens(t.arguments); ok && len(list) == 1 && list[0].kind == tokenString &&
		componentName.MatchString(list[0].text) {
		return list[0].text, nil
	}
	return "", o.problemAt(t.Start, `{%% %s %%} must have a name in quotation marks, such as "%s"`, t.name,
		map[string]string{"layout": "base", "block": "content", "render": "footer"}[t.name])
}

func (o *outline) openBlock(t tag, open []int, outer string) (string, error) {
	name, err := o.quotedName(t)
	switch {
	case err != nil:
		return "", err
	case o.Kind == KindPartial:
		return "", o.problemAt(t.Start, "a partial cannot have blocks")
	case o.Kind == KindTemplate && o.layout == "":
		return "", o.problemAt(t.Start, "{%% block %%} requires {%% layout %%} at the beginning")
	case outer != "":
		return "", o.problemAt(t.Start, "a block cannot contain a block")
	}
	if _, twice := o.blocks[name]; twice {
		return "", o.problemAt(t.Start, "there are two blocks with the name %s", name)
	}
	for _, i := range open {
		if o.tags[i].name == "for" {
			return "", o.problemAt(t.Start, "a block cannot be in {%% for %%}")
		}
	}
	return name, nil
}

var commentForm = regexp.MustCompile(`(?s)\{%-?\s*comment\s*-?%\}.*?\{%-?\s*endcomment\s*-?%\}`)

// checkTextAroundBlocks returns an error if a template with a layout has text outside its blocks.
func (o *outline) checkTextAroundBlocks() error {
	if o.layout == "" {
		return nil
	}
	at := o.tags[0].End
	check := func(end int) error {
		text := commentForm.ReplaceAllStringFunc(o.Source[at:end], func(s string) string { return strings.Repeat(" ", len(s)) })
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) }); i >= 0 {
			return o.problemAt(at+i, "a template with a layout consists of blocks; move this into a block")
		}
		return nil
	}
	for i := 1; i < len(o.tags); i++ {
		if err := check(o.tags[i].Start); err != nil {
			return err
		}
		i = o.ends[i]
		at = o.tags[i].End
	}
	return check(len(o.Source))
}

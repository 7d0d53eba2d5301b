package language

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/schema/shape"
)

// store has components by kind and name.
type store map[string]Component

func (s store) find(kind, name string) (Component, string) {
	c, exists := s[kind+" "+name]
	if !exists {
		return c, fmt.Sprintf("there is no %s %s", kind, name)
	}
	return c, ""
}

func partial(source string, variables ...string) Component {
	c := Component{Source: source}
	for _, v := range variables {
		key, typ, _ := strings.Cut(v, ":")
		required := strings.HasSuffix(key, "!")
		c.Variables = append(c.Variables, shape.Variable{Key: strings.TrimSuffix(key, "!"), Type: typ, Required: required})
	}
	return c
}

func expandTemplate(s store, source string) (string, error) {
	flat, err := new(Expander).Expand(HTML, "html", Component{Kind: KindTemplate, Source: source}, s.find)
	if err != nil {
		return "", err
	}
	if _, err := HTML.CompileFlat("html", flat); err != nil {
		return flat.Source, err
	}
	return flat.Source, nil
}

func withFallback(c Component, fallbacks ...any) Component {
	for i, f := range fallbacks {
		c.Variables[i].Fallback = f
	}
	return c
}

var components = store{
	"layout base": {Source: "<h1>{% block \"title\" %}Hi{% endblock %}</h1>{%- block \"content\" -%} none {%- endblock -%}\n" +
		"<p>{{ company }}{% render \"footer\", year: 2026 %}</p>"},
	"partial footer": partial("&copy; {{ year }} {{ unsubscribe_url }}", "year:number"),
	"partial line": partial("<tr>{{ item.name | append: \" item\" }} {{ item.price | money: currency }}</tr>", "item!:object",
		"currency:string"),
	"partial rows": partial("{% for row in rows reversed limit: n %}{{ row.a }}{{ forloop.index }}{{ mark }}{% else %}{{ mark }}"+
		"{% endfor %}", "rows!:list", "mark:string", "n:number"),
	"partial outer": partial("{% for row in rows %}{% render \"rows\", rows: row.below, mark: row.a, n: 2 %}{% endfor %}",
		"rows!:list"),
	"partial pair": partial("{% for row in rows %}{% for row_2 in row.below %}{{ row.a }}{{ row_2.b }}{{ mark }}{% endfor %}{% endfor %}",
		"rows!:list", "mark:string"),
	"partial note": withFallback(partial("[{% if on %}{{ text }}{% endif %}{{ n | plus: 1 }}{{ o.x.y }}]", "text:string", "n:number",
		"on:boolean", "o:object"), `say "hi"`, 1.5, true),
	"partial mine": partial("{% if a %}{{ b }}{% endif %}", "a:string"),
	"partial a":    partial(`{% render "b" %}`),
	"partial b":    partial(`{% render "c" %}`),
	"partial c":    partial(`{% render "a" %}`),
	"partial open": partial("x\n{% comment %}"),
	"partial one":  partial("{ x }}"),
	"partial two":  partial("a {{ x | nope }}", "x:string"),
	"partial deep": partial("{% for x in l %}{% for y in x %}{{ y }}{% endfor %}{% endfor %}", "l!:list"),
	"partial wide": partial(strings.Repeat("{{ x }}", 10), "x:string"),
	"partial long": partial("{{ x"+strings.Repeat(" | append: x", 60)+" }}", "x:string"),
}

func TestExpandsLayoutsAndPartials(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"plain {{ a }} block": "plain {{ a }} block",
		`{% layout "base" %} {% comment %} x {% endcomment %}
{% block "content" %}{% for line in lines %}{% render "line", item: line, currency: "EUR" %}{% endfor %}{% endblock %}`: `<h1>Hi</h1>` +
			`{% for line in lines %}<tr>{{ line.name | append: " item" }} {{ line.price | money: "EUR" }}</tr>{% endfor %}` +
			`<p>{{ company }}&copy; {{ 2026 }} {{ unsubscribe_url }}</p>`,
		`{% layout 'base' -%} {%- block "title" -%} {{ t }} {% endblock %}`: `<h1>{{ t }} </h1>none<p>{{ company }}` +
			`&copy; {{ 2026 }} {{ unsubscribe_url }}</p>`,
		`{% raw %}{% render "x" %}{% endraw %}`: `{% raw %}{% render "x" %}{% endraw %}`,
		// A loop variable of a partial does not hide an argument, and is unknown in the part for an empty list.
		`{% for row in list %}{% render "rows", rows: row.sub, mark: row.a, n: 3 %}{% endfor %}`: `{% for row in list %}` +
			`{% for row_2 in row.sub reversed limit: 3 %}{{ row_2.a }}{{ forloop.index }}{{ row.a }}{% else %}{{ row.a }}{% endfor %}` +
			`{% endfor %}`,
		`{% render "outer", rows: row %}`: `{% for row_2 in row %}{% for row in row_2.below reversed limit: 2 %}{{ row.a }}` +
			`{{ forloop.index }}{{ row_2.a }}{% else %}{{ row_2.a }}{% endfor %}{% endfor %}`,
		`{% render "pair", rows: list, mark: row.m %}`: `{% for row_2 in list %}{% for row_2_2 in row_2.below %}{{ row_2.a }}` +
			`{{ row_2_2.b }}{{ row.m }}{% endfor %}{% endfor %}`,
		// Fallbacks, and properties of a missing object.
		`{% render "note" %}`: `[{% if true %}{{ "say \"hi\"" }}{% endif %}{{ 1.5 | plus: 1 }}{{ nil }}]`,
		`a {%- render 'note', on: false, o: nil, text: x.y -%} b`: `a[{% if false %}{{ x.y }}{% endif %}{{ 1.5 | plus: 1 }}{{ nil }}]b`,
	} {
		if got, err := expandTemplate(components, source); err != nil || got != want {
			t.Errorf("%s\nexpands to  %s (%v)\nwant        %s", source, got, err, want)
		}
	}
}

func TestRefusesInvalidComponents(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`x {% layout "base" %}`: "line 1, column 3: {% layout %} must be at the beginning",
		`{% layout base %}`:     "{% layout %} must have a name in quotation marks",
		`{% layout "none" %}`:   "line 1, column 1: there is no layout none",
		"{% layout \"base\" %}\n{% block \"nope\" %}{% endblock %}":                             "line 2, column 1: the layout base has no block nope",
		"{% layout \"base\" %}\n x":                                                             "line 2, column 2: a template with a layout consists of blocks",
		`{% layout "base" %}{{ x }}`:                                                            "a template with a layout consists of blocks",
		`{% block "a" %}{% endblock %}`:                                                         "{% block %} requires {% layout %}",
		`{% layout "base" %}{% block "title" %}`:                                                "{% block %} has no {% endblock %}",
		`{% layout "base" %}{% block "title" %}{% if a %}{% endblock %}{% endif %}`:             "{% endblock %} must close a {% block %}",
		`{% layout "base" %}{% block "title" %}{% else %}{% endblock %}`:                        "must be in the same block",
		`{% layout "base" %}{% block "title" %}{% endblock %}{% block "title" %}{% endblock %}`: "two blocks with the name title",
		`{% render "none" %}`:                                                                   "there is no partial none",
		`{% render footer %}`:                                                                   "must have a name in quotation marks",
		`{% render "footer", 5 %}`:                                                              "must have the form name: value",
		`{% render "footer", year: %}`:                                                          "the argument year has no value",
		`{% render "footer", year: a | plus: 1 %}`:                                              "without filters",
		`{% render "footer", year: a[0] %}`:                                                     "without filters",
		`{% render "footer", year: (1..2) %}`:                                                   "must be a literal or the name of a variable",
		`{% render "footer", year: 1, year: 2 %}`:                                               "two arguments with the name year",
		`{% render "footer", year: "x" %}`:                                                      "must be a value of type number, not string",
		`{% render "footer", month: 1 %}`:                                                       "the partial footer has no variable month",
		`{% render "line" %}`:                                                                   "the partial line requires the argument item",
		`{% render "note", text: "}}" %}`:                                                       "the argument text cannot contain }}",
		`{% render "mine", a: 1 %}`:                                                             "must be a value of type string",
		`{% render "mine", a: x %}`:                                                             "partial mine, line 1, column 11: b is not a variable of the partial",
		`{% for x in l %}{% render "rows", rows: x, mark: forloop.index %}{% endfor %}`:         "partial rows, line 1, column 70: mark is forloop.index of another loop",
		`{% render "a" %}`:                                                                      "partial c, line 1, column 1: the partials form a cycle: a > b > c > a",
		`{% render "open" %}`:                                                                   "partial open, line 2, column 1: {% comment %} has no {% endcomment %}",
		`{ {%- render "one" %}`:                                                                 "partial one, line 1, column 1: \"{\" follows { of another component",
		"\n{% render \"two\", x: y %}":                                                          "partial two, line 1, column 3: there is no filter nope",
		"{% for a in b %}\n{% render \"deep\", l: a %}{% endfor %}":                             "partial deep, line 1, column 17: {% for %} is nested more than 2 deep",
		`{% render "long", x: ` + strings.Repeat("a", 100) + ` %}`:                              "the tag is longer than 1000 characters with its arguments",
	} {
		if got, err := expandTemplate(components, source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s returned %q, %v, want %s", source, got, err, want)
		}
	}
	for source, want := range map[string]string{
		`{% for a in b %}{% block "x" %}{% endblock %}{% endfor %}`:  "a block cannot be in {% for %}",
		`{% block "x" %}{% block "y" %}{% endblock %}{% endblock %}`: "a block cannot contain a block",
		`{% layout "base" %}`: "only templates can have a layout",
		`{% if a %}{% block "x" %}1{% else %}2{% endblock %}{% endif %}`: "must be in the same block",
		`{% render "two", x: y %}`:                                       "partial two",
	} {
		if _, err := new(Expander).Expand(HTML, "html", Component{Kind: KindLayout, Name: "l", Source: source}, components.find); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("the layout %s returned %v, want %s", source, err, want)
		}
	}
	for source, want := range map[string]string{
		`{% block "x" %}{% endblock %}`: "a partial cannot have blocks",
		`{% render "p" %}`:              "the partials form a cycle: p > p",
		`{{ a }}{{ b }}`:                "line 1, column 8: b is not a variable of the partial",
		`{{ forloop.index }}`:           "forloop is not a variable of the partial",
	} {
		c := Component{Kind: KindPartial, Name: "p", Source: source, Variables: []shape.Variable{{Key: "a", Type: TypeString}}}
		if _, err := new(Expander).Expand(HTML, "html", c, components.find); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the partial %s returned %v, want %s", source, err, want)
		}
	}
	c := Component{Kind: KindPartial, Name: "p", Variables: []shape.Variable{{Key: "a.b", Type: TypeString}}}
	if _, err := new(Expander).Expand(HTML, "html", c, components.find); err == nil {
		t.Error("a partial with a dotted variable was accepted")
	}
}

// Partials that render partials grow exponentially, in bytes or only in work.
func TestBoundsExpansion(t *testing.T) {
	t.Parallel()
	s := store{}
	for i := range 4 {
		next := fmt.Sprintf("{%% render \"p%d\" %%}", i+1)
		s[fmt.Sprintf("partial p%d", i)] = Component{Source: strings.Repeat(next, 4000)}
	}
	s["partial p4"] = Component{}
	if _, err := expandTemplate(s, `{% render "p0" %}`); err == nil || !strings.Contains(err.Error(), "more than 10000 tags") {
		t.Errorf("a bomb of empty partials returned %v, want a limit of tags", err)
	}
	s["partial p3"] = Component{Source: strings.Repeat("x", 600_000)}
	if _, err := expandTemplate(s, `{% render "p0" %}`); err == nil || !strings.Contains(err.Error(), "larger than 1 MB") {
		t.Errorf("a bomb of text returned %v, want a limit of bytes", err)
	}
	s = store{}
	var many strings.Builder
	for i := range MaxComponents + 1 {
		name := fmt.Sprintf("p%d", i)
		s["partial "+name] = Component{Source: "x"}
		fmt.Fprintf(&many, `{%% render "%s" %%}`, name)
	}
	if _, err := expandTemplate(s, many.String()); err == nil || !strings.Contains(err.Error(), "more than 20 layouts and partials") {
		t.Errorf("21 partials returned %v, want a limit of 20", err)
	}
	for i := range maxRenders + 1 {
		s[fmt.Sprintf("partial p%d", i)] = Component{Source: fmt.Sprintf(`{%% render "p%d" %%}`, i+1)}
	}
	if _, err := expandTemplate(s, `{% render "p0" %}`); err == nil || !strings.Contains(err.Error(), "nested more than 5 deep") {
		t.Errorf("six levels of render returned %v, want a limit of 5", err)
	}
}

func TestNamesOriginsOfVariables(t *testing.T) {
	t.Parallel()
	flat, err := new(Expander).Expand(HTML, "html", Component{Kind: KindTemplate,
		Source: "{% layout \"base\" %}\n{% block \"content\" %}\n{{ mine | raw }}{% endblock %}"}, components.find)
	if err != nil {
		t.Fatal(err)
	}
	p, err := HTML.CompileFlat("html", flat)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Place("company").String(); got != "layout base, line 2" {
		t.Errorf("company is in %s, want layout base, line 2", got)
	}
	if got := p.Place("mine").String(); got != "line 3" {
		t.Errorf("mine is in %s, want line 3", got)
	}
	if got := p.TrustedOutputs(); len(got) != 1 || p.OutputPlace(got[0]) != (Place{Line: 3}) {
		t.Errorf("the trusted outputs are %+v, want one in line 3", got)
	}
}

// Whatever expands either compiles or has an error with a position, and has no variables except those of the template,
// of the layout, and of the arguments.
func FuzzExpand(f *testing.F) {
	f.Add(`{% layout "l" %}{% block "a" %}{% render "p", a: x.y, b: 5 %}{% endblock %}`,
		`<{%- block "a" -%}{{ q }}{% endblock %}{% render "p", b: "z" %}>`, `{% for a in a %}{{ a }}{{ b.c }}{% else %}{{ a }}{% endfor %}`)
	f.Add(`{% for b in x %}{%render 'p' b:b a:forloop%}{%endfor%}`, ``, `{%case b%}{%when a or 1%}{%render "p"%}{%endcase%}{`)
	f.Add(`{% raw %}{% render "p" %}{% endraw %}{ {%-render "p"%}`, `{%comment%}{%block "a"%}`, `{%raw%}{{`)
	f.Add(`{% render "p", a: "x", b: nil %}`, ``, `{% for c in b.d limit: a %}{% for c in c[b] reversed %}{{ c | append: a }}{% endfor %}{% endfor %}`)
	f.Fuzz(func(t *testing.T, template, layout, source string) {
		if len(template)+len(layout)+len(source) > 4096 {
			return
		}
		s := store{"layout l": {Source: layout}, "partial p": {Source: source, Variables: []shape.Variable{
			{Key: "a", Type: TypeList}, {Key: "b", Type: TypeNumber, Fallback: 7.0}}}}
		root := Component{Kind: KindTemplate, Source: template}
		flat, err := new(Expander).Expand(HTML, "html", root, s.find)
		if err != nil {
			if !hasPosition(err) {
				t.Errorf("%q returned an error without a position: %v", template, err)
			}
			return
		}
		if len(flat.Source) > MaxSource {
			t.Errorf("%d bytes", len(flat.Source))
		}
		p, err := HTML.CompileFlat("html", flat)
		if err != nil {
			if !hasPosition(err) {
				t.Errorf("%q expands to %q, whose error %v has no position", template, flat.Source, err)
			}
			return
		}
		known := map[string]bool{}
		for _, c := range []Component{root, {Kind: KindLayout, Name: "l", Source: layout}} {
			for _, path := range freeNames(c) {
				known[path] = true
			}
		}
		for path := range p.findings.paths {
			if name, _, _ := strings.Cut(path, "."); !known[name] {
				t.Errorf("%q with layout %q and partial %q expands to %q, which uses %s", template, layout, source, flat.Source, name)
			}
		}
	})
}

// hasPosition reports whether an error has a position, except errors that never have one.
func hasPosition(err error) bool {
	if found, is := errors.AsType[*problem](err); is {
		return found.line > 0
	}
	return errors.Is(err, errPanicked) || strings.Contains(err.Error(), "NUL")
}

// freeNames returns the names in a component, in expressions and in arguments.
func freeNames(c Component) []string {
	names := map[string]bool{}
	o, err := HTML.prepare("html", c, true)
	if err != nil {
		return nil
	}
	for _, t := range o.tags {
		list, _ := splitTokens(t.arguments)
		for _, word := range list {
			if word.kind == tokenName {
				names[word.text] = true
			}
		}
	}
	return slices.Collect(maps.Keys(names))
}

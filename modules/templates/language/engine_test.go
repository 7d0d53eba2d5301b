package language

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
)

func fillWith(t testing.TB, e *Engine, source string, values map[string]any) (string, error) {
	t.Helper()
	p, err := e.Compile("html", source)
	if err != nil {
		return "", err
	}
	taken := map[string]any{}
	for key, value := range values {
		left := MaxValues
		v, reason := convertValue(value, 0, &left)
		if reason != "" {
			t.Fatal(reason)
		}
		taken[key] = v
	}
	return p.Render(NewBudget(t.Context(), Locale{}), taken)
}

var people = map[string]any{
	"name": "Ada <b>&", "count": 3.0, "big": 12345678901.0, "part": 2.5, "yes": true, "lines": "a\nb <i>", "when": "2026-01-15",
	"customer": map[string]any{"name": "Bob", "first-order": "1042"}, "items": []any{map[string]any{"n": "x", "p": 1.0}, map[string]any{"n": "y", "p": 2.0}},
	"words": []any{"a", "b", "c"}, "none": []any{},
}

func TestRendersLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, html, text string }{
		{"Hi {{name}}", "Hi Ada &lt;b&gt;&amp;", "Hi Ada <b>&"},
		{"{{ customer.name }} {{customer.first-order}} {{customer['name']}}", "Bob 1042 Bob", ""},
		{"{{nobody}}|{{nobody.at.all}}|{{ nobody | default: 'x' }}", "||x", ""},
		{"{{count}} {{big}} {{part}} {{yes}}", "3 12345678901 2.5 true", ""},
		{"{% for i in items %}{{forloop.index}}{{i.n}}{{i.p}} {% endfor %}", "1x1 2y2 ", ""},
		{"{% for i in none %}a{% else %}none{% endfor %}", "none", ""},
		{"{% for w in words reversed limit:2 %}{{w}}{% endfor %}", "cb", ""},
		{"{% for w in words %}{% if w == 'b' %}{% continue %}{% endif %}{% if w == 'c' %}{% break %}{% endif %}{{w}}{% endfor %}", "a", ""},
		{"{% for f in customer %}{{f[0]}}={{f[1]}};{% endfor %}", "first-order=1042;name=Bob;", ""},
		{"{% if count > 2 and yes %}many{% elsif count == 1 %}one{% else %}few{% endif %}", "many", ""},
		{"{% unless yes %}a{% else %}b{% endunless %}{% case count %}{% when 1, 3 %}odd{% else %}even{% endcase %}", "bodd", ""},
		{"a {%- if yes -%} b {%- endif -%} c", "abc", ""},
		{"{% for w in words -%}\n {{w}}\n{%- endfor %}", "abc", ""},
		{"{% comment %}{{ x | nofilter }}{% endcomment %}{% raw %}{{ as it is }}{% endraw %}", "{{ as it is }}", ""},
		{"{{ name | upcase | append: '!' }}", "ADA &lt;B&gt;&amp;!", "ADA <B>&!"},
		{"{{ lines | newline_to_br }}", "a<br />\nb &lt;i&gt;", "a<br />\nb <i>"},
		{"{{ name | escape }}", "Ada &lt;b&gt;&amp;", "Ada &lt;b&gt;&amp;"},
		{"{{ name | url_encode }}", "Ada+%3Cb%3E%26", ""},
		{"{{ when | date: '%d %B %Y' }}", "15 January 2026", ""},
		{"{{ words | join: ', ' }} {{ words | size }} {{ words.first }} {{ 'a-b' | split: '-' | last }}", "a, b, c 3 a b", ""},
		{"{{ count | plus: 1 | times: 2 }} {{ 7 | divided_by: 2 }} {{ part | round }}", "8 3 3", ""},
		{"{{ customer }}", "{&#34;first-order&#34;:&#34;1042&#34;,&#34;name&#34;:&#34;Bob&#34;}", `{"first-order":"1042","name":"Bob"}`},
		{"{{unsubscribe_url}} <a href=\"{{ unsubscribe_url }}\">", "{{unsubscribe_url}} <a href=\"{{unsubscribe_url}}\">", ""},
		{"{ {% if yes %}}{% endif %} } 50% {x} a{b", "{ } } 50% {x} a{b", ""},
		{"@media screen{.a{color:red}}", "@media screen{.a{color:red}}", ""},
	} {
		for e, want := range map[*Engine]string{HTML: c.html, Text: c.text} {
			if want == "" {
				want = c.html
			}
			if got, err := fillWith(t, e, c.source, people); err != nil || got != want {
				t.Errorf("%s returned %q (%v), want %q", c.source, got, err, want)
			}
		}
	}
}

// Only the source of a template can produce the token. Values cannot, even in pieces.
func TestDisarmsUnsubscribeTokensInValues(t *testing.T) {
	t.Parallel()
	values := map[string]any{"name": "{{unsubscribe_url}}", "first": "{{ unsubscribe", "last": "_url }}",
		"link": "%7B%7Bunsubscribe_url%7D%7D",
		"word": "unsubscribe_url"}
	for _, c := range []struct{ source, html string }{
		{"Hi {{name}}", "Hi {{unsubscribe\u2060_url}}"},
		{"Hi {{first}}{{last}}", "Hi {{ unsubscribe\u2060_url }}"},
		{`<a href="{{link}}">`, `<a href="%7B%7Bunsubscribe` + "\u2060" + `_url%7D%7D">`},
		{"{{name}} {{unsubscribe_url}}", "{{unsubscribe\u2060_url}} {{unsubscribe_url}}"},
		{`<a href="%7B%7B%20unsubscribe_url%20%7D%7D">{{ name }}</a>`, `<a href="{{unsubscribe_url}}">{{unsubscribe` + "\u2060" + `_url}}</a>`},
		{"?from=unsubscribe_url&{{word}}", "?from=unsubscribe_url&unsubscribe_url"},
		{"{{ unsubscribe_url | url_encode }} {% if unsubscribe_url %}yes{% endif %}", "{{unsubscribe_url}} yes"},
	} {
		if got, err := fillWith(t, HTML, c.source, values); err != nil || got != c.html {
			t.Errorf("%s renders %q (%v), want %q", c.source, got, err, c.html)
		}
	}
}

func TestRejectsInvalidSources(t *testing.T) {
	t.Parallel()
	loop := func(depth int) string {
		return strings.Repeat("{% for a in b %}", depth) + strings.Repeat("{% endfor %}", depth)
	}
	for source, want := range map[string]string{
		"a\n{{ name":                       "line 2, column 1: {{ has no }}",
		"{% if a":                          "line 1, column 1: {% has no %}",
		"{{ a {{ b }}":                     "line 1, column 1: a tag begins inside another one",
		"{{}}":                             "line 1, column 1: a tag is empty",
		"{{ a\n| upcase }}":                "line 1, column 1: {{ … }} has a line break inside",
		"{% if a %%}b{% endif %}":          "line 1, column 1: {% … %} ends with an extra %",
		"{%!x%}":                           "line 1, column 1: {% must be followed by the name of a tag",
		"{{ 'a }}":                         "line 1, column 1: ",
		"{{ a b }}":                        "line 1, column 1: syntax error",
		"{{ 99999999999999999999 }}":       "contains a value that Liquid does not support",
		"x\n{% if a %}":                    `line 2, column 1: unterminated "if" block`,
		"<p>{{ a }} {{ b | nope }}</p>":    "line 1, column 12: there is no filter nope",
		"ü {{ a }}\n{{ b }} {{ c d }}":     "line 2, column 9: syntax error",
		"{% endif %}":                      "line 1, column 1: endif not inside",
		"{% assign a = 1 %}":               "line 1, column 1: the tag {% assign %} is not allowed",
		"{% capture a %}b{% endcapture %}": "line 1, column 1: the tag {% capture %} is not allowed",
		"{% include 'a' %}":                "the tag {% include %} is not allowed",
		"{% render 'a' %}":                 "the tag {% render %} is not allowed",
		"{% for a in b %}{% cycle 'a' %}{% endfor %}": "the tag {% cycle %} is not allowed",
		"{% tablerow a in b %}{% endtablerow %}":      "the tag {% tablerow %} is not allowed",
		"{% increment a %}":                           `undefined tag "increment"`,
		"{% break %}":                                 "the tag {% break %} is not allowed",
		"{% if a %}{% for x in (1..2000000000) %}{% endfor %}{% endif %}": "ranges such as (1..5) are not allowed",
		"{{ (1..9) | join }}": "ranges such as (1..5) are not allowed",
		loop(3):               "nested more than 2 deep",
		strings.Repeat("{% if a %}", 31) + strings.Repeat("{% endif %}", 31): "nested more than 30 deep",
		"{{ a | safe }}":                           "there is no filter safe",
		"{% if a | safe %}{% endif %}":             "there is no filter safe",
		"{% for x in a | safe %}{% endfor %}":      "there is no filter safe",
		"{% case a | safe %}{% endcase %}":         "there is no filter safe",
		"{{ a | json }}":                           "there is no filter json",
		"{{ a | uniq }}":                           "there is no filter uniq",
		"{{ a | newline_to_br | upcase }}":         "newline_to_br must be the last filter",
		"{{ a" + strings.Repeat(".b", 600) + " }}": "is longer than 1000 characters",
		strings.Repeat("{{a}}", 5_001):             "there are more than 5000 tags",
		"a\x00b":                                   "contains a NUL character",
	} {
		p, err := HTML.Compile("html", source)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q (%v)", source, err, want, p)
		}
	}
}

const either = "renders or fails"

// Without limits, each of these would run for minutes or allocate gigabytes in the library.
func TestStopsHostileTemplates(t *testing.T) { //nolint:tparallel // measures memory, one template at a time
	t.Parallel()
	list := make([]any, MaxList)
	for i := range list {
		list[i] = strings.Repeat("y", 500)
	}
	values := map[string]any{"x": strings.Repeat("x", 1000), "l": list}
	doubling := "{{ x" + strings.Repeat(" | append: x", 20) + strings.Repeat(" | replace: 'x', 'xxxxxxxxxx'", 12) +
		" }}"
	for name, c := range map[string]struct{ source, want string }{
		"empty loops":            {"{% for a in l %}{% for b in l %}{% endfor %}{% endfor %}", either},
		"loops with comparisons": {"{% for a in l %}{% for b in l %}{% if l contains 'z' %}{% endif %}{% endfor %}{% endfor %}", "too long"},
		"loops with output":      {"{% for a in l %}{% for b in l %}{{x}}{% endfor %}{% endfor %}", "more than 1 MB"},
		"a chain of filters":     {doubling, "bytes"},
		"nested replace":         {"{{ x | replace: 'x', x | replace: 'x', x }}", "bytes"},
		"join":                   {"{{ l | join: x }}", "bytes"},
		"concat":                 {"{{ l | concat: l | size }}", "more than 1000 items"},
		"split":                  {"{{ x | append: x | split: '' | size }}", "more than 1000 items"},
		"wide date":              {"{{ '2026-01-15' | date: '%1000000d' }}", "date"},
		"wide dates":             {"{% for a in l %}{% for b in l %}{{ '2026-01-15' | date: '%9999d' }}{% endfor %}{% endfor %}", "more than 1 MB"},
		"many comparisons": {"{% for a in l %}{% for b in l %}" + strings.Repeat("{% if l == l %}{% endif %}", 500) +
			"{% endfor %}{% endfor %}", "too long"},
		"truncate":         {"{{ x | append: x | truncate: 5, x }}", ""},
		"division by zero": {"{{ 1 | divided_by: 0 }}", "division by zero"},
		"slice overflow":   {"{{ x | slice: 5, 9223372036854775807 }}", "cannot be rendered"},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // measures memory
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var err error
			for range 10 {
				work := expect.MeasureCPU(t, func() { _, err = fillWith(t, HTML, c.source, values) })
				if work > RenderTime+20*time.Second {
					t.Errorf("took %s", work)
				}
				if err == nil || c.want == "too long" || !strings.Contains(err.Error(), "too long") {
					break
				}
				// The time limit was reached first. Try again, because the machine may have been busy.
			}
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 200<<20 {
				t.Errorf("the heap grew by %d MB, want at most 200 MB", grown>>20)
			}
			switch {
			case c.want == either: // a million iterations take about half a second, unless the machine is busy
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// The library's own scanner takes quadratic time for these.
func TestRejectsUnclosedSourcesQuickly(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"{%a {{b}}", "{%a %%}{{b}}", "{{", "{%", "{% raw %}", "{", "{{a}}", "}}", "{{'}}",
		"{%a\n", "{% if a %}"} {
		source := strings.Repeat(piece, MaxSource/len(piece))
		took := expect.MeasureCPU(t, func() {
			if p, err := HTML.Compile("html", source); err == nil && strings.Contains(piece, "{%") {
				t.Errorf("%q was accepted: %v", piece, p)
			}
		})
		if took > 3*time.Second {
			t.Errorf("%q took %s", piece, took)
		}
	}
}

func TestRenderStopsWhenContextIsCancelled(t *testing.T) {
	t.Parallel()
	p, err := HTML.Compile("html", "{% for a in l %}{% for b in l %}{% if a == b %}{% endif %}{% endfor %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Render(NewBudget(ctx, Locale{}), map[string]any{"l": make([]any, MaxList)}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("rendering with a cancelled context returned %v, want context.Canceled", err)
	}
}

func TestLimitsSlowRendersPerOwner(t *testing.T) {
	t.Parallel()
	slow, err := HTML.Compile("html",
		"{% for a in l %}{% for b in l %}{% if a == b %}{% endif %}{% endfor %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	fast, err := HTML.Compile("html", "{{ x }}")
	if err != nil {
		t.Fatal(err)
	}
	slowWork := limit.NewKeyed[string](limit.Bounds{PerKey: 1})
	if err := slowWork.Acquire(t.Context(), "acc_1"); err != nil {
		t.Fatal(err)
	}
	ctx := slowWork.Bind(t.Context(), "acc_1")
	if _, err := slow.Render(NewBudget(ctx, Locale{}), map[string]any{"l": make([]any, MaxList)}); fault.Classify(err).
		Code != fault.CodeRateLimit || !IsOver(err) {
		t.Errorf("a slow render during another one of the same owner returned %v, want %s", err, fault.CodeRateLimit)
	}
	if got, err := fast.Render(NewBudget(ctx, Locale{}), map[string]any{"x": "y"}); err != nil || got != "y" {
		t.Errorf("a quick render during a slow one returned %q and %v, want y", got, err)
	}
	slowWork.Release("acc_1")
	b := NewBudget(ctx, Locale{})
	_, _ = slow.Render(b, map[string]any{"l": make([]any, MaxList)})
	if held := slowWork.InUse(); len(held) != 0 || b.leave != nil {
		t.Errorf("after a slow render %v slots are still held", held)
	}
}

func TestCompiledTemplateRendersConcurrently(t *testing.T) {
	t.Parallel()
	p, err := HTML.Compile("html", "{% for a in l %}{{a}}{{name}}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	wrong := make(chan string, 16)
	for i := range cap(wrong) {
		go func() {
			word := fmt.Sprint(i)
			got, err := p.Render(NewBudget(context.WithoutCancel(t.Context()), Locale{}),
				map[string]any{"l": []any{"a", "b"}, "name": word})
			if want := "a" + word + "b" + word; err != nil || got != want {
				wrong <- fmt.Sprint(got, err)
				return
			}
			wrong <- ""
		}()
	}
	for range cap(wrong) {
		if reason := <-wrong; reason != "" {
			t.Error(reason)
		}
	}
}

// For any source and values, rendering never panics or takes long, whatever compiles renders within the limits,
// and html never contains markup from a value.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"{{x}}", "{% for a in l %}{{a | upcase}}{% endfor %}",
		"{% if x == 'a' %}{{- x -}}{% endif %}", "{{ x | append: \"}}\" }}", "{%raw%}{{{%endraw%}",
		"{{ x | slice: -1, 5 }}", "{%comment%}{%if%}{%endcomment%}", "{{ l[0].a.b | default: 5 }}",
		"{%- case x -%}{% when 1 or 2 %}a{% endcase %}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return
		}
		for _, e := range []*Engine{HTML, Text} {
			p, err := e.Compile("html", source)
			if err != nil {
				continue
			}
			out, err := p.Render(NewBudget(t.Context(), Locale{}),
				map[string]any{"x": "<zqz>", "l": []any{"<zqz>", Object{"a": "<zqz>"}}})
			if err == nil && len(out) > MaxRender {
				t.Errorf("%d bytes", len(out))
			}
			if e.html && strings.Contains(out, "<zqz>") && !strings.Contains(source, "zqz") {
				t.Errorf("%q did not escape the markup in a value: %q", source, out)
			}
		}
	})
}

package mailhtml

import (
	"bytes"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// receiptHTML is a template as its author writes it.
func receiptHTML(t testing.TB) string {
	t.Helper()
	source, err := os.ReadFile("testdata/receipt.html")
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

func TestInliningKeepsLiquidAndMediaQueries(t *testing.T) { //nolint:paralleltest // looks at the standard logger
	var said bytes.Buffer
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	got, kept := InlineCSS(receiptHTML(t))
	if kept != "" {
		t.Fatal(kept)
	}
	expect.Golden(t, "inlined.html", got)
	if said.Len() > 0 {
		t.Errorf("the standard logger was told %q", said.String())
	}
	for _, values := range []map[string]any{{}, {"vip": true, "amount": 500, "name": "a", "brand": "red", "items": []any{map[string]any{"name": "x", "price": 5}}}} {
		before, err := rendered(t, receiptHTML(t), values)
		if err != nil {
			t.Fatal(err)
		}
		after, err := rendered(t, got, values)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plaintext.Of(before), plaintext.Of(after)); diff != "" {
			t.Errorf("inlining changed the text (-before +after):\n%s", diff)
		}
	}
}

func rendered(t testing.TB, source string, values map[string]any) (string, error) {
	t.Helper()
	p, err := language.HTML.Compile("html", source)
	if err != nil {
		return "", err
	}
	return p.Render(language.NewBudget(t.Context()), values)
}

func TestInliningLeavesAlone(t *testing.T) {
	t.Parallel()
	style := "<style>p { color: red }</style>"
	for source, want := range map[string]string{
		"<p>no style": "",
		style + `{% if a %}<div class="x">{% else %}<div class="y">{% endif %}</div>`: "would change their places",
		style + `<p>a{% if b %}</div>{% endif %}`:                                     "would change their places",
		"<style>{% if a %}p { color: red }{% endif %}</style><p>x":                    "{% tags %} inside <style>",
		"<style>@supports (color: red) { p { color: red } }</style><p>x":              "@supports is not understood",
		"<style>" + strings.Repeat("p{color:red}", 20_000) + "</style>":               "too much",
		style + "<div></p></div>":                                                     "would change their places",
		style + strings.Repeat("<div>", 600) + "</div>":                               "cannot be read",
		style + `<p pr-el-id="1">x</p><p pr-el-id="99">x</p>`:                         "cannot be read",
	} {
		got, kept := InlineCSS(source)
		if got != source || (want == "") != (kept == "") || !strings.Contains(kept, want) {
			t.Errorf("%.80q: %q, want %q; %t", source, kept, want, got == source)
		}
	}
	for _, source := range []string{
		style + "<ul><li>a<li>b</ul><p>x<p>y<table><tr><td>{{a}}<tr><td>b</table>",
		style + "{% if a %}<p>x</p>{% endif %}<p {{attributes}}>y</p><h{{n}}>x</h{{n}}>",
		`<p>{{a}}</p><STYLE>p { color: {{b}} }</STYLE>`,
	} {
		if got, kept := InlineCSS(source); kept != "" || !strings.Contains(got, `style="color:`) {
			t.Errorf("%s gives %q (%s)", source, got, kept)
		}
	}
}

func TestInliningIsBoundedInTime(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"<style>" + strings.Repeat("p p p p p{color:red}", 500) + "</style>" + strings.Repeat("<p>x</p>", 10_000),
		"<style>" + strings.Repeat("a,b,c,", 2_000) + "d{color:red}</style>" + strings.Repeat("<p>x</p>", 10_000),
		"<style>p{" + strings.Repeat("color:red;", 15_000) + "}</style>" + strings.Repeat("<p>x</p>", 1_000),
		"<style>.none ~ p ~ p ~ p ~ p ~ p{color:red}</style>" + strings.Repeat("<p>x</p>", 300),
		"<style>.none div div div div div div div p{color:red}</style>" + strings.Repeat("<div>", 200) + "<p>x</p>" + strings.Repeat("</div>", 200),
		"<style>" + strings.Repeat("p:nth-last-child(2n+1){color:red}", 900) + "</style>" + strings.Repeat("<p>x</p>", 2_500),
		"<style>div:has(div:has(div:has(div:has(.none)))){color:red}</style>" + strings.Repeat("<div>", 200) + strings.Repeat("</div>", 200),
		"<style>p{", "<style>@media", "<style>p{color", "<style>@media x{p{", "<style>@import", "<style>@font-face", "<style>p{color:", "<style>}}}}{{",
	} {
		var kept any
		if took := expect.Work(t, func() { _, kept = InlineCSS(source) }); took > 5*time.Second {
			t.Errorf("%.60q took %s (%s)", source, took, kept)
		}
	}
}

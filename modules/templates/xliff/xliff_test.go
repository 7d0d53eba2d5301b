package xliff

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const samples = "../../../docs/mail-templates/"

func read(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(samples + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func invitation(t testing.TB, locale string) Parts {
	t.Helper()
	return Parts{Subject: "{{inviter}} invited you to {{team}}", HTML: read(t, "invitation"+locale+".html"),
		Text: read(t, "invitation"+locale+".txt")}
}

// A translation that was made by hand has the markup of its source, so that it is exported, and the import of that
// returns the same translation.
func TestTranslationsSurviveExportAndImport(t *testing.T) {
	t.Parallel()
	source := invitation(t, "")
	for _, locale := range []string{"de", "pl"} {
		target := invitation(t, "."+locale)
		target.Subject = "Betreff {{team}} & <mehr>"
		content, err := Export(ExportRequest{Original: "tpl_1", Name: "A & B", SourceLocale: "en", TargetLocale: locale, Source: source, Target: target})
		if err != nil {
			t.Fatal(err)
		}
		got, wrong := Import(string(content), source)
		if len(wrong) != 0 || len(got.Untranslated) != 0 || got.Locale != locale {
			t.Fatalf("%s: %v, %v, %s\n%s", locale, wrong, got.Untranslated, got.Locale, content)
		}
		if diff := cmp.Diff(target, got.Parts); diff != "" {
			t.Errorf("%s is changed by export and import:\n%s", locale, diff)
		}
	}
}

func TestUnitsAreParagraphsCellsAndAttributes(t *testing.T) {
	t.Parallel()
	content, err := Export(ExportRequest{Original: "tpl_1", SourceLocale: "en", TargetLocale: "de", Source: Parts{
		Subject: "Order {{n}}",
		HTML: `<html lang="en"><head><title>T</title><style>p { color: red }</style></head><body><!-- not read -->
<p> Hi <b>{{ name }}</b>, you &amp; {% if a < b %}we{% endif %}. <img src="x" alt="A chart"> </p><td>{{ n }}</td>
<td>{{ n | pluralize: "day", "days" }}</td><table title="Table {{ x | append: "y" }}"><td>1.5 &nbsp;</td></table></body></html>`,
		Text: "Hi\n\n{{ name }}\n  Bye {{ name }}\n"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`id="([\w-]+)" xml:space="preserve"><source>(.*?)</source>`).FindAllStringSubmatch(string(content), -1) {
		got = append(got, m[1]+": "+m[2])
	}
	want := []string{"subject: Order {{n}}", "html-1: T",
		`html-2: Hi <x id="1"/>{{ name }}<x id="2"/>, you &amp; {% if a &lt; b %}we{% endif %}. <x id="3"/>`, "html-3: A chart",
		"html-4: {{ n | pluralize: &#34;day&#34;, &#34;days&#34; }}", "html-5: Table {{ x | append: &#34;y&#34; }}", "text-1: Hi", "text-2: Bye {{ name }}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the units differ from those wanted (-want +got):\n%s", diff)
	}
}

const file = `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file target-language="%s"><body>%s</body></file></xliff>`

var small = Parts{Subject: "Hi", HTML: `<html lang="en"><p>Hi <b>{{ name }}</b> <img alt="A chart"></p><p>Bye</p></html>`}

func unitOf(id, source, target string) string {
	return fmt.Sprintf(`<trans-unit id="%s"><source>%s</source><target>%s</target></trans-unit>`, id, source, target)
}

const first = `Hi <x id="1"/>{{ name }}<x id="2"/> <x id="3"/>`

func TestImportedUnitsReplaceTexts(t *testing.T) {
	t.Parallel()
	got, wrong := Import(fmt.Sprintf(file, "de-at", `<note>x</note><group>`+
		`<trans-unit id="html-1"><source>`+first+`</source><seg-source>x</seg-source><target state="translated"><mrk mtype="seg" mid="0"><ph id="3">code</ph> "&lt;Hallo&gt;" &amp; {{ name | default: "a &lt; b" }} </mrk><x id="1"/>&#xA0;<x id="2"/></target><alt-trans><target>Other</target></alt-trans></trans-unit></group>`+
		unitOf("html-2", " A  chart", `Ein "Bild"`)+unitOf("subject", "Hi", "\n  Hallo\nAda <!-- --> \n")), small)
	if len(wrong) != 0 {
		t.Fatal(wrong)
	}
	want := Translation{Locale: "de-AT", Untranslated: []string{"html-3"}, Parts: Parts{Subject: "Hallo Ada",
		HTML: `<html lang="de-AT"><p><img alt="Ein &quot;Bild&quot;"> &quot;&lt;Hallo&gt;&quot; &amp; {{ name | default: "a < b" }} <b>&nbsp;</b></p><p>Bye</p></html>`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWrongFilesAreRefusedByUnit(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<group>", 40) + strings.Repeat("</group>", 40)
	for name, c := range map[string]struct{ content, field, reason string }{
		"no XML":            {"hello", "xliff", "must be an XLIFF 1.2 document"},
		"an open element":   {"<xliff", "xliff", "must be an XML document"},
		"XLIFF 2":           {`<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0"/>`, "xliff", "must be an XLIFF 1.2 document"},
		"a document type":   {`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + fmt.Sprintf(file, "de", ""), "xliff", "cannot contain a document type"},
		"an entity":         {fmt.Sprintf(file, "de", unitOf("subject", "Hi", "&e;")), "xliff", "must be an XML document"},
		"another encoding":  {`<?xml version="1.0" encoding="UTF-16"?>` + fmt.Sprintf(file, "de", ""), "xliff", "must be an XML document"},
		"depth":             {fmt.Sprintf(file, "de", deep), "xliff", "is nested more than 32"},
		"marks in marks":    {fmt.Sprintf(file, "de", unitOf("subject", "Hi", strings.Repeat("<mrk>", 40)+strings.Repeat("</mrk>", 40))), "xliff", "is nested more than 32"},
		"size":              {fmt.Sprintf(file, "de", strings.Repeat(" ", MaxSize)), "xliff", "is larger than 4 MB"},
		"no language":       {fmt.Sprintf(file, "", ""), "xliff", "target-language"},
		"no translation":    {fmt.Sprintf(file, "de", unitOf("subject", "Hi", " ")), "xliff", "contains no translation"},
		"a unit twice":      {fmt.Sprintf(file, "de", unitOf("subject", "Hi", "a")+unitOf("subject", "Hi", "b")), "xliff", `the unit "subject" twice`},
		"an unknown unit":   {fmt.Sprintf(file, "de", unitOf("html-9", "Hi", "a")), "xliff.html-9", "is not a unit of the template"},
		"another source":    {fmt.Sprintf(file, "de", unitOf("subject", "Hello", "a")), "xliff.subject", "has another source than the draft"},
		"a missing code":    {fmt.Sprintf(file, "de", unitOf("html-1", first, `a<x id="1"/><x id="2"/>`)), "xliff.html-1", "lacks the code 3"},
		"a code twice":      {fmt.Sprintf(file, "de", unitOf("html-1", first, `<x id="1"/><x id="1"/>`)), "xliff.html-1", "has the code 1 twice"},
		"an unknown code":   {fmt.Sprintf(file, "de", unitOf("subject", "Hi", `<x id="1"/>`)), "xliff.subject", "has the code 1 twice, or"},
		"a code with words": {fmt.Sprintf(file, "de", unitOf("subject", "Hi", `<x id="one"/>`)), "xliff", "unit subject"},
		"another element":   {fmt.Sprintf(file, "de", unitOf("subject", "Hi", `<g id="1">a</g>`)), "xliff", `unit subject: contains the element "g"`},
		"open Liquid":       {fmt.Sprintf(file, "de", unitOf("subject", "Hi", "{{ name")), "xliff.subject", "line 1"},
		"two files":         {strings.Replace(fmt.Sprintf(file, "de", ""), "</xliff>", "<file/></xliff>", 1), "xliff", "must contain one file"},
	} {
		if _, wrong := Import(c.content, small); !strings.Contains(wrong[c.field], c.reason) {
			t.Errorf("%s: %v, want %s: %s", name, wrong, c.field, c.reason)
		}
	}
}

func FuzzImport(f *testing.F) {
	content, err := Export(ExportRequest{Original: "tpl_1", SourceLocale: "en", TargetLocale: "de", Source: small})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(content), small.HTML)
	f.Add(fmt.Sprintf(file, "de", unitOf("html-1", first, first)), small.HTML)
	f.Fuzz(func(t *testing.T, content, html string) {
		Import(content, Parts{Subject: "Hi", HTML: html})
		exported, err := Export(ExportRequest{SourceLocale: "en", TargetLocale: "de", Source: Parts{HTML: html}, Target: Parts{HTML: html}})
		if err != nil {
			return
		}
		again, wrong := Import(string(exported), Parts{HTML: html})
		if len(wrong) == 0 {
			if _, err := Export(ExportRequest{SourceLocale: "en", TargetLocale: "de", Source: again.Parts}); err != nil {
				t.Errorf("an imported translation cannot be exported: %v", err)
			}
		}
	})
}

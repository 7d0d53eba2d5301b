package lint

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plain is an email without problems.
func plain() Mail {
	return Mail{Subject: "Hello", HTML: `<html lang="en"><body><p>Hello</p></body></html>`, Text: "Hello",
		Domain: "example.com"}
}

// summarize returns findings as "severity code part count line:element, …".
func summarize(list []Finding) []string {
	out := []string{}
	for _, f := range list {
		var places []string
		for _, p := range f.Places {
			places = append(places, fmt.Sprintf("%d:%s", p.Line, p.Element))
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s", f.Severity, f.Code, f.Part, f.Count,
			strings.Join(places, ", "))))
	}
	return out
}

func expectFindings(t *testing.T, change func(*Mail), want ...string) {
	t.Helper()
	m := plain()
	change(&m)
	got, _ := Inspect(m)
	if diff := cmp.Diff(append([]string{}, want...), summarize(got)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, f := range got {
		if f.Reason == "" || f.Fix == "" {
			t.Errorf("%s has no reason or no fix", f.Code)
		}
	}
}

func TestPlainEmailHasNoFindings(t *testing.T) {
	t.Parallel()
	expectFindings(t, func(*Mail) {})
	expectFindings(t, func(m *Mail) { m.HTML = "" })
	expectFindings(t, func(m *Mail) { m.Text, m.AutoText = "", true })
	expectFindings(t, func(m *Mail) { m.Subject, m.NoSubject = "", true })
}

func TestMarkupThatClientsDoNotShow(t *testing.T) {
	t.Parallel()
	expectFindings(t, func(m *Mail) {
		m.HTML = "<html lang=en>\n<style>\n.a{display:flex}\n</style>\n<script>{{ x }}</script><form></form><svg></svg>\n" +
			`<p style="position:absolute;color:var(--x)">x</p><link rel="stylesheet" href="a.css">`
	}, "error script html 1 5:<script>", "error form html 1 5:<form>",
		`error external_stylesheet html 1 6:<link href="a.css">`, "warning flexbox html 1 3:<style>",
		"warning inline_svg html 1 5:<svg>", "warning css_position html 1 6:<p>", "warning css_variables html 1 6:<p>")
	expectFindings(t, func(m *Mail) {
		m.HTML = `<p style="background:#fff url(a.png)">x</p><iframe></iframe><video></video>` +
			`<style>@import "a"; .a{display:inline-grid}</style>`
	}, "error frame html 1 1:<iframe>", "warning background_image html 1 1:<p>", "warning media html 1 1:<video>",
		"warning css_grid html 1 1:<style>", "warning external_font html 1 1:<style>", "info no_language html 1")
}

func TestImages(t *testing.T) {
	t.Parallel()
	expectFindings(t, func(m *Mail) {
		m.HTML = `<html lang="en"><img src="https://example.com/1.png" width="10" height="10">` + "\n" +
			`<img src="DATA:image/png;base64,xx" alt="" width="10" height="1"><img src="cid:x" alt="Logo">` +
			`<img src="/t/o/x"><img src="p" width="1"><img src="cid:y" alt="" style="width: 4px; height: auto">`
	}, `warning image_without_alt html 1 1:<img src="https://example.com/1.png">`,
		`warning data_url_image html 1 2:<img src="DATA:image/png;base64,xx">`,
		`info image_without_size html 1 2:<img src="cid:x" alt="Logo">`)
}

func TestSizeAndTexts(t *testing.T) {
	t.Parallel()
	expectFindings(t, func(m *Mail) {
		m.Text, m.Subject, m.HTML = " ", "", m.HTML+strings.Repeat("x", clipSize)
	}, "error no_subject subject 1", "warning html_clipped html 1", "warning no_text_part message 1")
	exact := plain()
	exact.HTML += strings.Repeat("x", clipSize-len(exact.HTML))
	if got, _ := Inspect(exact); len(got) > 0 {
		t.Errorf("HTML of exactly the limit has the findings %v", summarize(got))
	}
}

func TestUnfilledVariables(t *testing.T) {
	t.Parallel()
	expectFindings(t, func(m *Mail) {
		m.HTML = "<html lang=en><title>{{ hidden }}</title><p>a\n{{ name }} {% if %}</p><a href=\"https://a.example/%7B%7Bid}}\">x</a>"
		m.Subject, m.Text = "{{ order }} is there", "one\n{{ two }}"
	}, "error unfilled_variable html 3 2:{{ name }}, 2:{% if %}, 2:https://a.example/%7B%7Bid}}",
		"error unfilled_variable text 1 2:{{ two }}", "error unfilled_variable subject 1 1:{{ order }}")
	link := `<html lang=en><a href="{{ unsubscribe_url }}">{{unsubscribe_url}}</a>`
	expectFindings(t, func(m *Mail) { m.HTML, m.Managed = link, true })
	expectFindings(t, func(m *Mail) { m.HTML = link },
		"error unfilled_variable html 2 1:{{unsubscribe_url}}, 1:{{ unsubscribe_url }}")
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<a href="https://shop.example.com/x">Order</a><a href="mailto:a@b.example">Write</a>`: "",
		`<a name="top"></a><a href="#top">Up</a>`:                                              "",
		`<a href="https://www.example.com">example.com</a>`:                                    "",
		`<a href="https://example.com">example.com/shop today</a>`:                             "",
		`<a href="#">x</a>`:                         "warning link_without_target html 1 1:x",
		`<a href="/orders">x</a>`:                   "error link_not_absolute html 1 1:/orders",
		`<a href="javascript:1">x</a>`:              "error link_scheme html 1 1:javascript:1",
		`<a href="http://shop.example.com">x</a>`:   "warning link_unencrypted html 1 1:http://shop.example.com",
		`<a href="http://localhost:3000/x">x</a>`:   "error link_private html 1 1:http://localhost:3000/x",
		`<a href="https://[::ffff:10.0.0.1]">x</a>`: "error link_private html 1 1:https://[::ffff:10.0.0.1]",
		`<a href="https://example.com"></a>`:        "warning link_without_text html 1 1:https://example.com",
		`<a href="https://example.com"><img alt="Shop" src="cid:x" width="2" height="2"></a>`: "",
		`<a href="https://sub.example.com/a">https://example.com/a</a>`:                       "error link_text_mismatch html 1 1:https://example.com/a → https://sub.example.com/a",
		`<a href="https://bit.ly/x">Go</a>`:                                                   "warning link_shortener html 1 1:https://bit.ly/x",
		`<a href="https://other.example/t/c/x">Go</a>`:                                        "info link_other_domain html 1 1:https://other.example/t/c/x",
		`<a href="https://example.com/a">Go<a href="/b">there</a>`:                            "error link_not_absolute html 1 1:/b",
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			var all []string
			if want != "" {
				all = []string{want}
			}
			expectFindings(t, func(m *Mail) { m.HTML = `<html lang="en">` + body }, all...)
		})
	}
	expectFindings(t, func(m *Mail) {
		m.HTML, m.Tracked = `<html lang="en"><a href="https://other.example/t/c/x">example.com</a>`, true
	})
	expectFindings(t, func(m *Mail) { m.Text = "See\nhttps://tinyurl.com/abc now" },
		"warning link_shortener text 1 2:https://tinyurl.com/abc")
}

func TestLinksAreReturnedOnce(t *testing.T) {
	t.Parallel()
	m := plain()
	m.HTML = "<a href='https://example.com/a'>a</a>\n<a href='https://example.com/b'>b</a><a href='https://example.com/a'>a</a>"
	_, got := Inspect(m)
	if diff := cmp.Diff([]Link{{"https://example.com/a", 1}, {"https://example.com/b", 2}}, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

func TestPlacesAreCountedAndCut(t *testing.T) {
	t.Parallel()
	m := plain()
	m.HTML = `<html lang="en">` + strings.Repeat(`<a href="/x`+strings.Repeat("y", 400)+`">x</a>`, 25)
	got, _ := Inspect(m)
	if len(got) != 1 || got[0].Count != 25 || len(got[0].Places) != MaxPlaces {
		t.Fatalf("got %v, want 25 links with %d places", summarize(got), MaxPlaces)
	}
	if n := len([]rune(got[0].Places[0].Element)); n > maxElement+1 {
		t.Errorf("an element has %d characters", n)
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	good := "Date: x\r\nFrom: a@example.com\r\nMessage-ID: <x>\r\n"
	expectFindings(t, func(m *Mail) { m.Header = []byte(good) })
	expectFindings(t, func(m *Mail) { m.Header = []byte(good + "\r\nBody: é") })
	expectFindings(t, func(m *Mail) {
		m.Header = []byte("From: a@example.com\r\nDate: x\r\nSubject: é\r\nsubject: b\r\nX-Long: " +
			strings.Repeat("x", 991) + "\r\nX-Wide: " + strings.Repeat("ab ", 30) + "\r\nno field\r\n folded\r\n")
	}, "error header_non_ascii header 1 3:Subject", "error header_duplicate header 1 4:Subject",
		"error header_line_too_long header 1 5:X-Long: 999 bytes", "error header_malformed header 1 7:no field",
		"error header_missing header 1 0:Message-Id", "info header_line_not_folded header 1 6:X-Wide")
}

func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	const good = "Date: x\nFrom: a@example.com\nMessage-ID: <x>\n"
	const list = good + "List-Unsubscribe: <https://example.com/u/1>\n"
	const one = list + "List-Unsubscribe-Post: List-Unsubscribe=One-Click\n"
	for name, c := range map[string]struct {
		mail Mail
		want []string
	}{
		"no category":          {Mail{Header: []byte(good), Recipients: 1}, nil},
		"category":             {Mail{Header: []byte(good), Category: "News"}, []string{"warning unsubscribe_missing"}},
		"several recipients":   {Mail{Header: []byte(good), Recipients: 2}, []string{"info unsubscribe_missing"}},
		"no post":              {Mail{Header: []byte(list), Text: "https://example.com/u/1"}, []string{"warning unsubscribe_not_one_click"}},
		"no link":              {Mail{Header: []byte(one), Text: "Hello"}, []string{"warning unsubscribe_link_missing"}},
		"link":                 {Mail{Header: []byte(one), Text: "https://example.com/u/1"}, nil},
		"managed":              {Mail{Header: []byte(one), Text: "{{unsubscribe_url}}", Managed: true, Recipients: 1}, nil},
		"shared":               {Mail{Header: []byte(one), Text: "{{unsubscribe_url}}", Managed: true, Recipients: 2}, []string{"warning unsubscribe_shared"}},
		"header not inspected": {Mail{Category: "News", Text: "x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := c.mail
			m.Subject = "Hello"
			found, _ := Inspect(m)
			var got []string
			for _, f := range found {
				got = append(got, string(f.Severity)+" "+f.Code)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A message of several megabytes costs memory in proportion to its length, whatever it contains.
func TestHostileContentUsesBoundedMemory(t *testing.T) {
	t.Parallel()
	const size, limit = 4 << 20, 256 << 20
	for name, m := range map[string]Mail{
		"attributes": {HTML: "<p " + strings.Repeat("a ", size/2) + ">"},
		"folds":      {Header: []byte("To: x" + strings.Repeat("\n ", size/2))},
		"links":      {HTML: strings.Repeat("<a href=#>", size/10)},
		"variables":  {HTML: strings.Repeat("<p>{{a}}", size/8), Text: strings.Repeat("{%", size/2)},
		"styles":     {HTML: strings.Repeat("<p style=background:>", size/21)},
		"data URL":   {HTML: "<img src=data:" + strings.Repeat("x", size) + ">"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found, _ := Inspect(m)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > limit {
			t.Errorf("%s: the inspection allocated %d MB, want at most %d", name, used>>20, limit>>20)
		}
		large := slices.ContainsFunc(found, func(f Finding) bool { return f.Code == "html_not_inspected" })
		if want := name == "attributes" || name == "data URL"; large != want {
			t.Errorf("%s: html_not_inspected is %t, want %t", name, large, want)
		}
	}
}

// Hostile HTML costs time in proportion to its length.
func FuzzInspect(f *testing.F) {
	f.Add("<a href='x'>{{y}}</a><img src=x style='width:1'>", "Date: x\n")
	f.Add(strings.Repeat("<a href=#>", 100), strings.Repeat("a: b\n c\n", 50))
	f.Add("<style>"+strings.Repeat("background:", 100), ":\n")
	f.Fuzz(func(t *testing.T, html, header string) {
		found, links := Inspect(Mail{HTML: html, Text: html, Subject: html, Header: []byte(header), Domain: "example.com"})
		if len(links) > maxLinks {
			t.Errorf("%d links", len(links))
		}
		for _, f := range found {
			if f.Count < 1 || len(f.Places) > MaxPlaces || f.Reason == "" || f.Fix == "" {
				t.Errorf("invalid finding %+v", f)
			}
		}
	})
}

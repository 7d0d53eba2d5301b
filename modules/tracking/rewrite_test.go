package tracking

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
)

const (
	testAccount = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	testEmail   = "msg_01kf0m4w7he6x8q2v5b3n9c1tb"
	testDomain  = "dom_01kf0m4w7he6x8q2v5b3n9c1tc"
	testBase    = "https://mail.example.org"
)

var both = TrackedEmail{AccountID: testAccount, EmailID: testEmail, DomainID: testDomain, Opens: true, Clicks: true}

// pinnedKey returns a fixed key, so that golden files contain the same tokens in every run.
func pinnedKey(t testing.TB) *secret.Box {
	t.Helper()
	keys, err := secret.ParseKeys(secret.New("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="))
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func newRewriter(t testing.TB) *Rewriter {
	t.Helper()
	r, err := NewRewriter(RewriterParams{Config: Config{BaseURL: testBase, HostTTL: time.Hour}, Box: pinnedKey(t),
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r.bases.known.Set(domainKey{testAccount, testDomain}, linkBase{testBase, ownHost}) // avoids the database
	return r
}

func rewriteBodies(t testing.TB, r *Rewriter, m TrackedEmail, html, text string) (newHTML, newText string) {
	t.Helper()
	newHTML, newText, err := r.Rewrite(t.Context(), m, html, text)
	if err != nil {
		t.Fatal(err)
	}
	return newHTML, newText
}

func readSource(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestRewriteMatchesGolden(t *testing.T) {
	t.Parallel()
	r := newRewriter(t)
	html, text := rewriteBodies(t, r, both, readSource(t, "letter.html"), readSource(t, "letter.txt"))
	expect.Golden(t, "letter.tracked.html", html)
	expect.Golden(t, "letter.tracked.txt", text)
	// The golden files contain readable targets in place of tokens.
	expect.Golden(t, "letter.targets.html", replaceTokens(t, r, html))
	expect.Golden(t, "letter.targets.txt", replaceTokens(t, r, text))
}

var tracked = regexp.MustCompile(regexp.QuoteMeta(testBase) + `/t/[co]/[A-Za-z0-9_-]+`)

func replaceTokens(t testing.TB, r *Rewriter, rewritten string) string {
	t.Helper()
	return tracked.ReplaceAllStringFunc(rewritten, func(link string) string {
		mark, err := r.tokens.parse(link[strings.LastIndexByte(link, '/')+1:], ownHost)
		if err != nil || mark.AccountID != testAccount || mark.EmailID != testEmail {
			t.Errorf("link %s contains %+v, %v; want account %s and email %s", link, mark, err, testAccount, testEmail)
		}
		return "[" + string(mark.Kind) + " " + mark.Target + "]"
	})
}

func TestTracksOnlyEnabledKinds(t *testing.T) {
	t.Parallel()
	r := newRewriter(t)
	const page, plain = `<p><a href="https://example.com/">x</a></p>`, "https://example.com/"
	for name, c := range map[string]struct {
		opens, clicks             bool
		wantHTML, wantText, start string
	}{
		"nothing": {false, false, "", "", page},
		"opens":   {true, false, "[open ]", "", page + "<img "},
		"clicks":  {false, true, "[click https://example.com/]", "[click https://example.com/]", `<p><a href="` + testBase},
		"both":    {true, true, "[open ]", "[click https://example.com/]", `<p><a href="` + testBase},
	} {
		m := both
		m.Opens, m.Clicks = c.opens, c.clicks
		html, text := rewriteBodies(t, r, m, page, plain)
		if got := replaceTokens(t, r, html); !strings.Contains(got, c.wantHTML) || !strings.HasPrefix(html, c.start) ||
			strings.Contains(got, "[open") != c.opens {
			t.Errorf("%s: html %s", name, html)
		}
		if got := replaceTokens(t, r, text); !strings.Contains(got, c.wantText) ||
			(text == plain) != (c.wantText == "") {
			t.Errorf("%s: text %s", name, text)
		}
	}
	if html, text := rewriteBodies(t, r, both, "", "no link"); html != "" || text != "no link" {
		t.Errorf("a message without HTML was rewritten to %q, %q", html, text)
	}
	for _, wrong := range []TrackedEmail{{AccountID: "acc_1", EmailID: testEmail, Opens: true},
		{AccountID: testAccount, EmailID: testDomain, Opens: true}} {
		if _, _, err := r.Rewrite(t.Context(), wrong, "x", ""); err == nil {
			t.Errorf("Rewrite accepted %+v", wrong)
		}
	}
}

// checkUndo checks that the bytes between links are unchanged and that each link has the target of the original.
func checkUndo(t *testing.T, r *Rewriter, source, rewritten string, unescape func(string) string) {
	t.Helper()
	at := 0
	pieces := tracked.Split(rewritten, -1)
	links := tracked.FindAllString(rewritten, -1)
	for i, piece := range pieces {
		found := strings.Index(source[at:], piece)
		if i == 0 && found != 0 || i == len(pieces)-1 && !strings.HasSuffix(source[at:], piece) {
			found = -1
		}
		if i == len(pieces)-1 && found >= 0 {
			found = len(source) - at - len(piece)
		}
		if found < 0 {
			t.Fatalf("bytes changed: %q is not in its place in %q (rewritten %q)", piece, source, rewritten)
		}
		if i > 0 {
			mark, err := r.tokens.parse(links[i-1][strings.LastIndexByte(links[i-1], '/')+1:], ownHost)
			if err != nil {
				t.Fatal(err)
			}
			// The target may contain the next piece too, so use the first position that fits.
			want := false
			for ; found >= 0 && at+found <= len(source) && strings.HasPrefix(source[at+found:], piece); found++ {
				if target, ok := weburl.Normalize(unescape(source[at : at+found])); ok && target == mark.Target {
					want = true
					break
				}
				next := strings.Index(source[at+found+1:], piece)
				if next < 0 {
					break
				}
				found += next
			}
			if !want {
				t.Fatalf("no URL of %q matches the target %q", source[at:], mark.Target)
			}
		}
		at += found + len(piece)
	}
	if at != len(source) {
		t.Fatalf("%q became %q", source, rewritten)
	}
}

// attributeText returns the value that a browser reads from an attribute, where some entities of text do not
// apply.
func attributeText(value string) string {
	quote := ""
	for _, q := range []string{`"`, `'`} {
		if !strings.Contains(value, q) {
			quote = q
			break
		}
	}
	z := html.NewTokenizer(strings.NewReader("<a href=" + quote + value + quote + " x>"))
	z.Next()
	z.TagName()
	_, text, _ := z.TagAttr()
	return string(text)
}

func checkHTML(t *testing.T, r *Rewriter, source string) {
	t.Helper()
	clicks := both
	clicks.Opens = false
	rewritten, _ := rewriteBodies(t, r, clicks, source, "")
	if strings.Contains(source, testBase) {
		return // the source contains links that look like ours
	}
	checkUndo(t, r, source, rewritten, attributeText)
	opens := both
	opens.Clicks = false
	with, _ := rewriteBodies(t, r, opens, source, "")
	if _, end := scanHTML(source, nil); source != "" &&
		(!strings.HasPrefix(with, source[:end]+"<img ") || !strings.HasSuffix(with, `border:0">`+source[end:])) {
		t.Fatalf("the pixel is not at %d of %q: %q", end, source, with)
	}
	if again, _ := rewriteBodies(t, r, clicks, rewritten, ""); again != rewritten {
		t.Fatalf("rewriting twice changes the result: %q, %q", rewritten, again)
	}
}

func checkText(t *testing.T, r *Rewriter, source string) {
	t.Helper()
	_, rewritten := rewriteBodies(t, r, both, "", source)
	if !strings.Contains(source, testBase) {
		checkUndo(t, r, source, rewritten, func(s string) string { return s })
	}
}

var oddHTML = []string{
	"", "plain", `<a href="https://example.com/">`, `<a href='https://example.com/`, `<a href=https://example.com/>x`,
	`<a href`, `<a href=`, `<a =href="https://e.com">`,
	`<a/href=https://e.com/>`, `<a href="https://e.com/"href="https://f.com">`, `<a x=y"href="https://e.com/">`,
	"<a\x00href=https://e.com/>", `<a href=&#104;ttps://e.com>`,
	`<A HREF="https&colon;//e.com/&quot;x">`, `<a href="https://e.com/"/>`, `<plaintext><a href="https://e.com/">`,
	`<!--><a href="https://e.com/">`, `<![CDATA[<a href="https://e.com/">]]>`,
	`</body><a href="https://e.com/">x</a></body>`, `</body><!-- </body> -->`, "<a href=\"https://e.com/\r\n\tx\">",
	`<a  href = "https://e.com" / >`, `<a href='https://e.com/"'>`,
	`<a href="https://e.com/?a=1&copy=2&amp;lt;">`, `<?xml <a href="https://e.com/">`, `</a href="https://e.com/">`,
	`<a b='>' href="https://[::1]:80/">`, `<textarea><a href="https://e.com/">`,
	`<a href=https://e.com/"x>`, `<a href="ht&#x0A;tps://e.com/">`, "\xff<a href=\"https://e.com/\xff\">",
	`<a href="https://e.com/é">`, `<noscript><a href="https://e.com/"></noscript>`,
}

func TestNonTargetsStayUnchanged(t *testing.T) {
	t.Parallel()
	r := newRewriter(t)
	for _, source := range append(oddHTML, readSource(t, "letter.html")) {
		if !strings.Contains(source, testBase) {
			checkHTML(t, r, source)
		}
	}
	for _, source := range strings.SplitAfter(readSource(t, "letter.txt"), "\n") {
		checkText(t, r, source)
	}
}

func FuzzRewriteHTML(f *testing.F) {
	for _, source := range oddHTML {
		f.Add(source)
	}
	r := newRewriter(f)
	f.Fuzz(func(t *testing.T, source string) { checkHTML(t, r, source) })
}

func FuzzRewriteText(f *testing.F) {
	for line := range strings.SplitSeq(readSource(f, "letter.txt"), "\n") {
		f.Add(line)
	}
	f.Add("http://http://x.y/ http:// https://)) http://[::1]/(()")
	r := newRewriter(f)
	f.Fuzz(func(t *testing.T, source string) { checkText(t, r, source) })
}

// The time must grow linearly with the size of a body. Each of these contains a pattern that a naive scan would
// read repeatedly.
func TestLargeBodiesTakeLinearTime(t *testing.T) {
	t.Parallel()
	r := newRewriter(t)
	const size = 5 << 20
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for name, c := range map[string]struct{ html, text string }{
		"links":       {fill(`<p>Hello <a href="https://example.com/x">x</a></p>`), fill("https://example.com/x ")},
		"open quotes": {fill(`<a href="https://e.com/ `), fill(`http://`)},
		"attributes":  {"<a " + fill(`b="c" `) + `href="https://e.com/">`, fill(`://`)},
		"angles":      {fill(`<`), fill(`http://x(`)},
		"comments":    {fill(`<!--`), fill(`http://x.`)},
		"one target":  {`<a href="https://e.com/` + fill("a") + `">`, "https://e.com/" + fill(")")},
		"bodies":      {fill(`</body>`), fill("xhttps://e.com/")},
	} {
		var html, text string
		if took := expect.MeasureCPU(t,
			func() { html, text = rewriteBodies(t, r, both, c.html, c.text) }); took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
		if len(html)+len(text) > len(c.html)+len(c.text)+maxLinks*4000 {
			t.Errorf("%s: %d bytes were rewritten to %d", name, len(c.html)+len(c.text), len(html)+len(text))
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	r := newRewriter(b)
	for name, body := range map[string]string{
		"3links": strings.Repeat("<p style=\"margin:0\">Hello there, this is a line of a letter.</p>\n",
			40) + strings.Repeat(`<a class="button" href="https://example.com/receipts/1042?a=1&amp;b=2">x</a>`, 3) +
			"</body>",
		"100kB": strings.Repeat("<tr><td style=\"padding:8px\">Hello there, a cell of a table</td></tr>\n",
			1400) + strings.Repeat(`<a href="https://example.com/p/1">x</a>`, 50) + "</body>",
		"noLinks": strings.Repeat("<p>Hello there, this is a line of a letter.</p>\n", 60),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := r.Rewrite(b.Context(), both, body,
					"Hello https://example.com/receipts/1042 there\n"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package tracking

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestClassifiesMachines(t *testing.T) {
	t.Parallel()
	m, err := newMachines(machinesFile)
	if err != nil {
		t.Fatal(err)
	}
	const safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15"
	for _, c := range []struct {
		agent, ip, header, value, want string
	}{
		{agent: safari},
		{agent: safari, ip: "192.0.2.1", header: "Purpose", value: "x"},
		{agent: "Mozilla/5.0 (Linux; Android 11; CUBOT_X30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36"},
		{agent: "Mozilla/4.0 (compatible; ms-office; MSOffice 16)"},
		{agent: "Thunderbird/115.0"},
		{agent: "Mozilla/5.0", want: "privacy_proxy"},
		{agent: "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)", want: ""},
		{agent: "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", want: ""},
		{agent: safari, header: "sec-purpose", value: "prefetch;prerender", want: "prefetch"},
		{agent: safari, header: "Purpose", value: "Prefetch", want: "prefetch"},
		{agent: safari, ip: "104.47.3.4", want: "scanner"},
		{agent: safari, ip: "::ffff:148.163.130.1", want: "scanner"},
		{agent: "Mozilla/5.0 Barracuda Sentinel (EE)", want: "scanner"},
		{agent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", want: "bot"},
		{agent: "curl/8.5.0", want: "bot"}, {agent: "", want: "bot"}, {agent: "\x00\r\n", want: "bot"},
	} {
		v := Visit{UserAgent: c.agent, Header: http.Header{}}
		if c.ip != "" {
			v.IP = netip.MustParseAddr(c.ip)
		}
		if c.header != "" {
			v.Header.Set(c.header, c.value)
		}
		if got := m.newHit(v, time.Now()).machine; got != c.want {
			t.Errorf("%+v is classified as %q", c, got)
		}
	}
}

func TestInvalidTableReportsLine(t *testing.T) {
	t.Parallel()
	for table, want := range map[string]string{
		"# x\nbot agent-has curl": "line 2", "bot agent-has": "line 1", "bot network 1.2.3.4.5/8": "line 1",
		`bot shape "x"`: "line 1", `bot header "Purpose"`: "line 1",
	} {
		if _, err := newMachines(table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("table %q returned %v, want an error that contains %s", table, err, want)
		}
	}
}

func TestCleanAgent(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"Mail/1.0\r\n\tX: y\x00\x7f\u0085\u202e\xff": "Mail/1.0X: y",
		strings.Repeat("é", 400):                     strings.Repeat("é", 256),
		"x" + strings.Repeat("é", 400):               "x" + strings.Repeat("é", 255),
	} {
		if got := cleanAgent(given); got != want {
			t.Errorf("%q became %q", given, got)
		}
	}
}

func FuzzCleanAgent(f *testing.F) {
	f.Add("Mozilla/5.0 é\x00\xff")
	f.Fuzz(func(t *testing.T, given string) {
		if got := cleanAgent(given); len(got) > maxAgent || !utf8.ValidString(got) ||
			strings.ContainsAny(got, "\x00\r\n") {
			t.Fatalf("the cleaned agent is %q, want at most %d bytes of valid UTF-8 on one line", got, maxAgent)
		}
	})
}

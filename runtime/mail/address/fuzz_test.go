package address_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/address"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"ann@example.com", `"Lee, Ann" <ann@example.com>`, `"a b"@b.co`, "用户@例え.テスト", "=?utf-8?q?A=0D=0AB?= <a@b.co>",
		`=?utf-8?b?4oCu?= "q" x. <"\"\\"@xn--mnchen-3ya.de>`, "a@b.co, c@d.co", "<@r:a@b.co>", "a\u200d@\u200d.co",
		"a@[1.2.3.4]", "\u00a0 <a@b.co>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := address.Parse(s)
		if err != nil {
			if err.Error() == "" || strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Errorf("Parse(%q): reason %q", s, err)
			}
			return
		}
		for _, out := range []string{a.String(), a.AddrSpec(), a.Name, a.Local, a.Domain} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, unicode.IsControl) {
				t.Errorf("Parse(%q) lets out %q", s, out)
			}
		}
		if len(a.AddrSpec()) > address.MaxAddr || a.Domain != strings.ToLower(a.Domain) {
			t.Errorf("Parse(%q) = %+v", s, a)
		}
		if again, err := address.Parse(a.String()); err != nil || again != a {
			t.Errorf("Parse(%q) = %+v; Parse(%q) = %+v, %v", s, a, a.String(), again, err)
		}
		if again, err := address.New(a.Name, a.AddrSpec()); err != nil || again != a {
			t.Errorf("New(%q, %q) = %+v, %v, want %+v", a.Name, a.AddrSpec(), again, err, a)
		}
	})
}

func FuzzValidateHeader(f *testing.F) {
	f.Add("X-A", "b")
	f.Add("from", "a\r\nb")
	f.Add("X-\u017f", "\u2028")
	f.Fuzz(func(t *testing.T, name, value string) {
		if address.ValidateHeader(name, value) != nil {
			return
		}
		if strings.ContainsAny(name+value, "\r\n\x00") || strings.ContainsAny(name, ": ") || name == "" {
			t.Errorf("ValidateHeader lets %q: %q pass", name, value)
		}
		for _, forbidden := range []string{"from", "bcc", "content-type", "dkim-signature"} {
			if strings.EqualFold(name, forbidden) {
				t.Errorf("ValidateHeader lets %q pass", name)
			}
		}
	})
}

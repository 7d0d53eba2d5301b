package address_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/address"
)

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 64)
	for in, want := range map[string]struct {
		address.Address
		String string
		UTF8   bool
	}{
		`ann@example.com`: {address.Address{Local: "ann", Domain: "example.com"},
			`ann@example.com`, false},
		`  ann@example.com  `: {address.Address{Local: "ann", Domain: "example.com"},
			`ann@example.com`, false},
		`<ann@example.com>`: {address.Address{Local: "ann", Domain: "example.com"},
			`ann@example.com`, false},
		`Ann <Ann.Lee@EXAMPLE.com>`: {address.Address{Name: "Ann", Local: "Ann.Lee",
			Domain: "example.com"}, `Ann <Ann.Lee@example.com>`, false},
		`Ann<a@b.co>`: {address.Address{Name: "Ann", Local: "a", Domain: "b.co"},
			`Ann <a@b.co>`, false},
		"Ann\t Lee  <a@b.co>": {address.Address{Name: "Ann Lee", Local: "a", Domain: "b.co"}, `Ann Lee <a@b.co>`, false},
		`Acme Inc. <a+tag@b.co>`: {address.Address{Name: "Acme Inc.", Local: "a+tag",
			Domain: "b.co"}, `Acme Inc. <a+tag@b.co>`, false},
		`"Lee, Ann" <a@b.co>`: {address.Address{Name: "Lee, Ann", Local: "a", Domain: "b.co"},
			`"Lee, Ann" <a@b.co>`, false},
		`"A \"B\" \\ C" <a@b.co>`: {address.Address{Name: `A "B" \ C`, Local: "a", Domain: "b.co"},
			`"A \"B\" \\ C" <a@b.co>`, false},
		`"" <a@b.co>`: {address.Address{Local: "a", Domain: "b.co"}, `a@b.co`, false},
		`Jörg 😀 <a@b.co>`: {address.Address{Name: "Jörg 😀", Local: "a", Domain: "b.co"},
			`Jörg 😀 <a@b.co>`, false},
		`"ann lee"@b.co`: {address.Address{Local: "ann lee", Domain: "b.co"},
			`"ann lee"@b.co`, false},
		`"ann"@b.co`: {address.Address{Local: "ann", Domain: "b.co"},
			`ann@b.co`, false},
		`"a@b> SIZE=1"@b.co`: {address.Address{Local: "a@b> SIZE=1", Domain: "b.co"},
			`"a@b> SIZE=1"@b.co`, false},
		`X <"a\"\\b"@b.co>`: {address.Address{Name: "X", Local: `a"\b`, Domain: "b.co"},
			`X <"a\"\\b"@b.co>`, false},
		`a@MÜNCHEN.de`: {address.Address{Local: "a", Domain: "xn--mnchen-3ya.de"},
			`a@münchen.de`, false},
		`a@xn--mnchen-3ya.de`: {address.Address{Local: "a", Domain: "xn--mnchen-3ya.de"},
			`a@münchen.de`, false},
		`a@例え。テスト`: {address.Address{Local: "a", Domain: "xn--r8jz45g.xn--zckzah"},
			`a@例え.テスト`, false},
		`a@faß.de`: {address.Address{Local: "a", Domain: "xn--fa-hia.de"},
			`a@faß.de`, false},
		`用户@例え.テスト`: {address.Address{Local: "用户", Domain: "xn--r8jz45g.xn--zckzah"},
			`用户@例え.テスト`, true},
		"jo\u0308rg@b.co": {address.Address{Local: "jörg", Domain: "b.co"}, `jörg@b.co`, true},
		`=?UTF-8?B?SsO2cmc=?= <a@b.co>`: {address.Address{Name: "Jörg", Local: "a", Domain: "b.co"},
			`Jörg <a@b.co>`, false},
		`=?utf-8?q?J=C3=B6?= =?utf-8?q?rg?= <a@b.co>`: {address.Address{Name: "Jörg", Local: "a", Domain: "b.co"},
			`Jörg <a@b.co>`, false},
		`=?iso-8859-15?q?=A4?= Bank <a@b.co>`: {address.Address{Name: "€ Bank", Local: "a", Domain: "b.co"},
			`€ Bank <a@b.co>`, false},
		`=?none-such?q?x?= <a@b.co>`: {address.Address{Name: "=?none-such?q?x?=", Local: "a",
			Domain: "b.co"}, `"=?none-such?q?x?=" <a@b.co>`, false},
		`"=?UTF-8?B?SsO2cmc=?=" <a@b.co>`: {address.Address{Name: "=?UTF-8?B?SsO2cmc=?=", Local: "a",
			Domain: "b.co"}, `"=?UTF-8?B?SsO2cmc=?=" <a@b.co>`, false},
		long + `@b.co`: {address.Address{Local: long, Domain: "b.co"}, long +
			`@b.co`, false},
		`a@r3---sn-x.example.com`: {address.Address{Local: "a", Domain: "r3---sn-x.example.com"},
			`a@r3---sn-x.example.com`, false},
		`!#$%&'*+-/=?^_` + "`{|}~" + `@b.co`: {address.Address{Local: "!#$%&'*+-/=?^_`{|}~", Domain: "b.co"},
			"!#$%&'*+-/=?^_`{|}~@b.co", false},
	} {
		got, err := address.Parse(in)
		if err != nil {
			t.Errorf("Parse(%q): %v", in, err)
			continue
		}
		if diff := cmp.Diff(want.Address, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", in, diff)
		}
		if got.String() != want.String {
			t.Errorf("Parse(%q).String() = %q, want %q", in, got.String(), want.String)
		}
		if got.NeedsSMTPUTF8() != want.UTF8 {
			t.Errorf("Parse(%q).NeedsSMTPUTF8() = %v", in, got.NeedsSMTPUTF8())
		}
		again, err := address.Parse(got.String())
		if err != nil || again != got {
			t.Errorf("Parse(String()) = %+v, %v, want %+v", again, err, got)
		}
	}
}

func TestParseRejectsWithAReason(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                     "is empty",
		" \t ":                                 "is empty",
		"ann":                                  "has no @",
		"Ann Lee":                              "has no @",
		"Ann <ann>":                            "has no @",
		"@example.com":                         "has nothing before the @",
		"<@example.com>":                       "has nothing before the @",
		`""@example.com`:                       "has nothing before the @",
		"ann@":                                 "has nothing after the @",
		"<>":                                   "has nothing between the angle brackets",
		"Ann <>":                               "has nothing between the angle brackets",
		"ann@localhost":                        "domain has no dot",
		"a@b@c.co":                             "has more than one @",
		"a@@b.co":                              "has more than one @",
		"a@b.co@c.co":                          "has more than one @",
		"a@b.co, c@d.co":                       "holds more than one address",
		"Ann <a@b.co>, c@d.co":                 "holds more than one address",
		"a@b.co; c@d.co":                       "holds more than one address",
		"a@b.co c@d.co":                        "has text after the address",
		"<a@b.co> x":                           "has text after the address",
		"<a@b.co":                              "has no closing angle bracket",
		"a@b.co>":                              "has a closing angle bracket without an opening one",
		"Ann a@b.co":                           "has a name but no angle brackets around the address",
		"ann@home <a@b.co>":                    "domain has no dot",
		"ann@home.co <a@b.co>":                 "has an @ in the display name: put the name in double quotes",
		"at ann@home.co <a@b.co>":              "has an @ in the display name: put the name in double quotes",
		"Lee, Ann <a@b.co>":                    "has a comma outside quotes: put the name in double quotes, and give one address only",
		"team: a@b.co;":                        "is a group or has a colon or semicolon outside quotes",
		"a@b.co (Ann)":                         "has a comment in parentheses, which is not allowed",
		"Ann (Lee) <a@b.co>":                   "has a comment in parentheses, which is not allowed",
		"<@relay.co,@r2.co:a@b.co>":            "has a source route, which is not allowed",
		"a@[192.0.2.1]":                        "has an IP address instead of a domain, which is not allowed",
		"<a@[IPv6:::1]>":                       "has an IP address instead of a domain, which is not allowed",
		"a@192.0.2.1":                          "domain is an IP address",
		"a@１９２.0.2.1":                          "domain is an IP address",
		".a@b.co":                              "local part starts with a dot",
		"a.@b.co":                              "local part ends with a dot",
		"a..b@b.co":                            "local part has two dots in a row",
		"a b@b.co":                             "has a name but no angle brackets around the address",
		"<a b@b.co>":                           "has a space inside the angle brackets",
		"a @b.co":                              "has a space before the @",
		`"a@b.co`:                              "has an unclosed double quote",
		`"a\`:                                  "has a backslash without a character to quote",
		`a"b@b.co`:                             "has an unclosed double quote",
		`a\b@b.co`:                             `has '\\' outside quotes`,
		"a@b..co":                              "domain has an empty label",
		"a@.b.co":                              "domain has an empty label",
		"a@b.co.":                              "domain ends with a dot",
		"a@-b.co":                              "domain label starts or ends with a hyphen",
		"a@b_c.co":                             `domain has '_', which is not allowed`,
		"a@b!c.co":                             `domain has '!', which is not allowed`,
		"a@" + strings.Repeat("d", 64) + ".co": "domain label is longer than 63 bytes",
		"local67890@" + strings.Repeat("dddddddd.", 27) + "co": "is longer than 254 bytes",
		"a@" + strings.Repeat("dddddddd.", 29) + "co":          "domain is longer than 253 bytes",
		strings.Repeat("l", 65) + "@b.co":                      "local part is longer than 64 bytes",
		`"` + strings.Repeat("l", 61) + `  "@b.co`:             "local part is longer than 64 bytes",
		strings.Repeat("ü", 33) + "@b.co":                      "local part is longer than 64 bytes",
		strings.Repeat("n", 257) + " <a@b.co>":                 "display name is longer than 256 characters",
		strings.Repeat("n", 5000) + " <a@b.co>":                "is longer than 4096 bytes",
		"a@xn--zzzzzzzz.co":                                    "domain is not a valid internationalised name",
		"a@\u202ecom.b":                                        "domain is not a valid internationalised name",
		"a\r\nBcc: x@y.co@b.co":                                "has a line break",
		"Ann\nBcc: x <a@b.co>":                                 "has a line break",
		"Ann\u2028 <a@b.co>":                                   "has a line break",
		"a\x00@b.co":                                           "has a NUL character",
		"a\x01@b.co":                                           "has a control character",
		"A\x7f <a@b.co>":                                       "has a control character",
		"A\u009b <a@b.co>":                                     "has a control character",
		"a\xff@b.co":                                           "is not valid UTF-8",
		"\"A\tB\" <a@b.co>":                                    "has a control character",
		"\"a\tb\"@b.co":                                        "has a control character",
		"A \u202egnp.exe <a@b.co>":                             "display name has a character that changes the direction of text",
		"a\u200b@b.co":                                         "local part has an invisible character",
		"a\u00a0b@b.co":                                        "local part has an invisible character",
		"=?utf-8?q?A=0D=0ABcc=3A_x?= <a@b.co>":                 "display name has a line break",
		"=?utf-8?b?AA==?= <a@b.co>":                            "display name has a NUL character",
		"=?utf-8?q?A=0D=0A?= <a@b.co>":                         "display name has a line break",
		"=?utf-8?q?=E2=80=AE?= <a@b.co>":                       "display name has a character that changes the direction of text",
	} {
		got, err := address.Parse(in)
		if err == nil {
			t.Errorf("Parse(%q) = %+v, want the reason %q", in, got, want)
			continue
		}
		if err.Error() != want {
			t.Errorf("Parse(%q): %q, want %q", in, err, want)
		}
	}
}

func TestParseKeepsTheLongestAddress(t *testing.T) {
	t.Parallel()
	domain := strings.Repeat("dddddddd.", 20) + "example.co"
	local := strings.Repeat("l", 63)
	spec := local + "@" + domain // 63+1+190
	if len(spec) != 254 {
		t.Fatalf("the test's address has %d bytes", len(spec))
	}
	a, err := address.Parse(spec)
	if err != nil || a.AddrSpec() != spec {
		t.Errorf("Parse = %q, %v", a.AddrSpec(), err)
	}
	if _, err := address.Parse("l" + spec); err == nil {
		t.Error("255 bytes were accepted")
	}
}

func TestNewUsesTheNameLiterally(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Ann", "=?UTF-8?B?SsO2cmc=?=", `a "b" <c@d.co>`, "Lee, Ann (HR)", "x  y"} {
		a, err := address.New(name, "a@b.co")
		if err != nil {
			t.Errorf("New(%q): %v", name, err)
			continue
		}
		if a.Name != name {
			t.Errorf("New(%q).Name = %q", name, a.Name)
		}
		if again, err := address.Parse(a.String()); err != nil || again != a {
			t.Errorf("Parse(%q) = %+v, %v", a.String(), again, err)
		}
	}
	if a, err := address.New("A", `"a<b"@b.co`); err != nil || a.Local != "a<b" {
		t.Errorf("New with a bracket in the local part = %+v, %v", a, err)
	}
	for _, c := range [][2]string{{"A\r\nB", "a@b.co"}, {"A\tB", "a@b.co"}, {"A\r\n", "a@b.co"}, {"\n\n", "a@b.co"},
		{"A\f", "a@b.co"}, {"A", "X <a@b.co>"}, {"A", "<a@b.co>"}, {"A", "nope"}} {
		if a, err := address.New(c[0], c[1]); err == nil {
			t.Errorf("New(%q, %q) = %+v, want an error", c[0], c[1], a)
		}
	}
}

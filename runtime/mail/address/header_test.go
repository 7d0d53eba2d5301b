package address_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/address"
)

func TestValidateHeaderAccepts(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"X-Entity-Ref-ID":       "123",
		"In-Reply-To":           "<a@b.co>",
		"References":            "<a@b.co>\t<c@d.co>",
		"references":            strings.Repeat("<thread@mail.example.net> ", 600),
		"List-Unsubscribe":      "<https://example.com/u>",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
		"X-Note":                "Grüße 😀",
		"X-Empty":               "",
		"Precedence":            "bulk",
		"Contents":              "starts like Content- but is not",
		"X-Postriders":          "one letter from reserved",
		"Arc":                   "no dash",
		"!#$%&'*+-.^_`|~":       "every character RFC 5322 allows",
		"X-Long":                strings.Repeat("ü", address.MaxHeaderValue),
		strings.Repeat("N", 76): "v",
	} {
		if err := address.ValidateHeader(name, value); err != nil {
			t.Errorf("ValidateHeader(%q, %.20q): %v", name, value, err)
		}
	}
}

func TestValidateHeaderRejectsReservedNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"From", "To", "Cc", "Bcc", "Sender", "Reply-To", "Date", "Subject", "Message-ID",
		"Return-Path", "Received",
		"Delivered-To", "Resent-From", "Resent-", "DKIM-Signature", "ARC-Seal", "Authentication-Results",
		"MIME-Version", "Content-Type",
		"Content-Anything", "Errors-To", "Bounces-To", "Return-Receipt-To", "Disposition-Notification-To",
		"X-Postrider-Id",
		"Transfer-Encoding", "Received-SPF", "X-Received", "Apparently-To", "Envelope-To", "X-Envelope-From",
		"X-Original-To", "Original-Recipient", "DomainKey-Signature", "DomainKey-Status", "Mail-From", "X-Delivered-To",
		"X-Authentication-Results", "Authentication-Results-Original", "Read-Receipt-To", "X-Return-Receipt-To",
		"X-Confirm-Reading-To", "X-Failed-Recipients", "Delivery-Date", "X-DKIM-Signature", "X-DomainKey-Status",
		"X-Gm-Original-To", "BIMI-Location", "BIMI-Indicator"} {
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if err := address.ValidateHeader(spelling, "x"); err == nil {
				t.Errorf("ValidateHeader(%q) was accepted", spelling)
			}
		}
	}
}

func TestValidateHeaderRejectsWithAReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, want string }{
		{"", "x", "header name is empty"},
		{"X Y", "x", "header name has ' ', which is not allowed"},
		{"X:Y", "x", "header name has ':', which is not allowed"},
		{"From ", "x", "header name has ' ', which is not allowed"},
		{"X\r\nBcc", "x", `header name has '\r', which is not allowed`},
		{"X-Ü", "x", "header name has 'Ü', which is not allowed"},
		{strings.Repeat("N", 77), "x", "header name is longer than 76 characters"},
		{"X", "a\r\nBcc: x", "value has a line break"},
		{"X", "a\nb", "value has a line break"},
		{"X", "a\rb", "value has a line break"},
		{"X", "a\u0085b", "value has a line break"},
		{"X", "a\x00b", "value has a NUL character"},
		{"X", "a\x1bb", "value has a control character"},
		{"X", "a\xffb", "value is not valid UTF-8"},
		{"X", strings.Repeat("x", 999), "value is longer than 998 characters"},
		{"References", strings.Repeat("<a@b.co> ", 2000), "value is longer than 16384 characters"},
		{"In-Reply-To", "<" + strings.Repeat("x", 996) + ">", "value has 998 characters without a space, which fits on no line"},
		{"References", "<ü@b.co>", "value must be ASCII in this header"},
		{"List-Unsubscribe", "<" + strings.Repeat("x", 996) + ">", "value has 998 characters without a space, which fits on no line"},
	} {
		if err := address.ValidateHeader(c.name, c.value); err == nil || err.Error() != c.want {
			t.Errorf("ValidateHeader(%q, %.20q): %v, want %q", c.name, c.value, err, c.want)
		}
	}
}

func TestValidateSubject(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"", "Hello", "tab\tinside", strings.Repeat("😀", 998)} {
		if err := address.ValidateSubject(ok); err != nil {
			t.Errorf("ValidateSubject(%.20q): %v", ok, err)
		}
	}
	for bad, want := range map[string]string{
		"a\r\nBcc: x": "has a line break", "a\x00": "has a NUL character", strings.Repeat("x", 999): "is longer than 998 characters",
	} {
		if err := address.ValidateSubject(bad); err == nil || err.Error() != want {
			t.Errorf("ValidateSubject(%.20q): %v, want %q", bad, err, want)
		}
	}
}

func TestValidateMessageID(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"msg_1@example.com", "a.b+c@localhost", "a@[192.0.2.1]"} {
		if err := address.ValidateMessageID(ok); err != nil {
			t.Errorf("ValidateMessageID(%q): %v", ok, err)
		}
	}
	for _, bad := range []string{"", "a", "a@", "@b", "a@b@c", "a b@c", "a@b>", "<a@b>", "a@b\r\n", "ü@b", "a..b@c",
		"a@[b", "a@[b c]", "a@[b]]", "a@[b\tc]", "a@" + strings.Repeat("b", 250)} {
		if err := address.ValidateMessageID(bad); err == nil {
			t.Errorf("ValidateMessageID(%.30q) was accepted", bad)
		}
	}
}

func TestCleanFieldValueOfInvisibleText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " \n": "", "\u200b": "", "\ufeff \u00ad\u2060": "", "\u2800\u3164\u00a0": "", "\u202e\u034f": "",
		"\u200bHi\u200b": "\u200bHi\u200b",
		"👨\u200d👩\ufe0f": "👨\u200d👩\ufe0f",
		"a\x1b\n b":      "a b",
	} {
		if got := address.CleanFieldValue(text); got != want {
			t.Errorf("CleanFieldValue(%q) is %q, want %q", text, got, want)
		}
	}
}

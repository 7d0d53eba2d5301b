package dsn_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dsn"
)

// The address in a Chinese sentence ends at its punctuation, so that the report is about our recipient.
func TestAddressesEndAtFullWidthPunctuation(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"收件人邮件地址（bob@example.net）不存在，邮件无法送达。", "宛先：bob@example.net。", "【bob@example.net】"} {
		message := "Return-Path: <>\nFrom: postmaster@mx.example.cn\nSubject: Undeliverable\n" +
			"Content-Type: text/plain; charset=utf-8\n\n" + line + "\n550 5.1.1 User unknown\n"
		report, err := dsn.Parse(strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Recipients {
			if r.Address != "" && r.Address != "bob@example.net" {
				t.Errorf("%s names the recipient %q, want bob@example.net", line, r.Address)
			}
		}
		if len(report.Recipients) == 0 {
			t.Errorf("%s is not read as a report", line)
		}
	}
}

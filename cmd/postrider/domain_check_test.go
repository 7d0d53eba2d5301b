package main

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/ops/config"
)

func TestDomainCheckWithoutDatabase(t *testing.T) {
	t.Parallel()
	zone := dnsxtest.New(t, "rp.example.com. CNAME rp.mail.example.org.",
		`example.com. TXT "v=spf1 include:spf.mail.example.org ~all"`,
		`spf.mail.example.org. TXT "v=spf1 ip4:192.0.2.25 -all"`,
		`rp.mail.example.org. TXT "v=spf1 include:spf.mail.example.org -all"`)
	cfg, err := config.Load(setting.Tool, "", setting.RawValues{"POSTRIDER_DATA_DIR": t.TempDir(),
		"POSTRIDER_DNS": zone.Addr(), "POSTRIDER_SANDBOX_DOMAIN": "sandbox.mail.example.org",
		"POSTRIDER_RETURN_PATH_HOST": "rp.mail.example.org", "POSTRIDER_SPF_INCLUDE": "spf.mail.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	table, sound, err := (&domainCheckCommand{Name: "Example.com"}).check(t.Context(), cfg)
	if err != nil || !sound || strings.Count(table, " verified ") != 2 ||
		!strings.Contains(table, "_dmarc.example.com") || strings.Contains(table, "_service") {
		t.Errorf("the check returned %t (error %v), want true with two verified records, DMARC and no ownership:\n%s",
			sound, err, table)
	}
	table, sound, err = (&domainCheckCommand{Name: "example.com", Selector: "pr1"}).check(t.Context(), cfg)
	if err != nil || sound || !strings.Contains(table, "Publish a TXT record at pr1._domainkey.example.com") {
		t.Errorf("with a missing key: %t, %v\n%s", sound, err, table)
	}
	zone.Fault("example.com", dnsxtest.ServFail)
	table, sound, err = (&domainCheckCommand{Name: "example.com"}).check(t.Context(), cfg)
	if err != nil || sound || !strings.Contains(table, " no answer ") {
		t.Errorf("SERVFAIL: %t, %v\n%s", sound, err, table)
	}
	if _, _, err := (&domainCheckCommand{Name: "co.uk"}).check(t.Context(), cfg); err == nil ||
		!strings.Contains(err.Error(), "public suffix") {
		t.Errorf("co.uk: %v", err)
	}
}

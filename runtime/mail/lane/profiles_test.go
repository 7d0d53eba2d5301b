package lane_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/lane"
)

func TestProvidersAreRecognizedByTheirMailHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"gmail-smtp-in.l.google.com":              "google",
		"ASPMX.L.GOOGLE.COM.":                     "google",
		"outlook-com.olc.protection.outlook.com":  "outlook",
		"example-com.mail.protection.outlook.com": "microsoft365",
		"example-com.a-v1.mx.microsoft":           "microsoft365",
		"mta5.am0.yahoodns.net":                   "yahoo",
		"mx01.mail.icloud.com":                    "icloud",
		"mx00.gmx.net":                            "gmx",
		"mx-ha03.web.de":                          "gmx",
		"mx00.t-online.de":                        "t-online",
		"mx1.comcast.net":                         "comcast",
		"smtp-in.orange.fr":                       "orange",
		"mxs.mail.ru":                             "mailru",
		"mx.yandex.ru":                            "yandex",
		"mx3.qq.com":                              "qq",
		"163mx01.mxmail.netease.com":              "netease",
		"mx0a-00000001.pphosted.com":              "proofpoint",
		"eu-smtp-inbound-1.mimecast.com":          "mimecast",
		"d12345.a.ess.uk.barracudanetworks.com":   "barracuda",
		"mx.notgoogle.com":                        "default",
		"google.com.evil.test":                    "default",
		"":                                        "default",
	} {
		if got := lane.BuiltIn().Find([]string{host}); got.Provider != want || got.Start < 2 || got.Start > 5 {
			t.Errorf("%s: %+v, want %s", host, got, want)
		}
	}
	if got := lane.BuiltIn().
		Find([]string{"mx.own.test", "mx0a.pphosted.com", "aspmx.l.google.com"}); got.Provider != "proofpoint" {
		t.Errorf("%s, want the provider of the first host that belongs to one", got.Provider)
	}
}

func TestOperatorRowsReplaceAndExtendTheBuiltInOnes(t *testing.T) {
	t.Parallel()
	p, err := lane.BuiltIn().Extend(strings.NewReader(`# ours
google   1 2 3 4m 5  google.com # fewer
partner  9 9 9 9m -  .Relay.partner.test mx.l.google.com
`))
	if err != nil {
		t.Fatal(err)
	}
	google := p.Find([]string{"aspmx.google.com"})
	if google.Start != 1 || google.Connections != 2 || google.Messages != 3 || google.Age != 4*time.Minute ||
		google.Rate != 5 {
		t.Errorf("the profile of Google is %+v, want the operator's row", google)
	}
	for host, want := range map[string]string{"a.relay.partner.test": "partner", "mx.l.google.com": "partner",
		"smtp.goog": "default", "mx.qq.com": "qq"} {
		if got := p.Find([]string{host}).Provider; got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	if got := lane.BuiltIn().Find([]string{"mx.l.google.com"}); got.Connections == 2 {
		t.Error("the built-in rows changed")
	}
}

func TestAllMistakesInRowsAreReported(t *testing.T) {
	t.Parallel()
	_, err := lane.BuiltIn().Extend(strings.NewReader(`default 3 20 100 10m - example.test
short 1 2

google x 0 -1 soon fast google.com
gone 5 2 10 5m -
star 1 1 1 1m - *.star.test
google 1 1 1 1m - double.test
other 1 1 1 1m - double.test
`))
	want := `line 1: the row default has no suffixes
line 2: provider short: want provider, start, connections, messages, age, rate and host suffixes
line 4: start "x" is not a number from 1 to 10000
line 4: connections "0" is not a number from 1 to 10000
line 4: messages "-1" is not a number from 1 to 1000000
line 4: age "soon" is not a duration from 1s to 24h
line 4: rate "fast" is not a number from 1 to 1000000
line 5: start 5 must be at most connections 2
line 5: provider gone has no suffix of a host name
line 6: "*.star.test" is not a suffix of a host name
line 7: provider google is already in line 4
line 8: double.test is already in line 7`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v", err)
	}
}

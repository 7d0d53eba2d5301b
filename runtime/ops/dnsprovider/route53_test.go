package dnsprovider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/libdns/libdns"
)

func TestRoute53ParsesTexts(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"v=spf1 -all"`:         "v=spf1 -all",
		`"one " "two"`:          "one two",
		`"caf\303\251"`:         "café",
		`"say \"hi\""`:          `say "hi"`,
		`"a backslash: \\101"`:  `a backslash: \101`,
		`"\052 is an asterisk"`: "* is an asterisk",
		`unquoted`:              "unquoted",
		`""`:                    "",
	} {
		if got := (route53Set{Name: "example.com.", Type: "TXT"}).record("example.com.", route53Value{value}).RR().
			Data; got != want {
			t.Errorf("the text %s was read as %q, want %q", value, got, want)
		}
	}
}

// Long zones are read in pages. If several zones have the same name, the public one is used.
func TestRoute53ReadsAllPagesOfPublicZone(t *testing.T) {
	t.Parallel()
	zone := func(id string, private bool) string {
		return fmt.Sprintf("<HostedZone><Id>/hostedzone/%s</Id><Name>example.com.</Name><Config><PrivateZone>%t</PrivateZone></Config></HostedZone>", id, private)
	}
	set := func(name string) string {
		return "<ResourceRecordSet><Name>" + name +
			"</Name><Type>A</Type><TTL>60</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>"
	}
	_, z := serve(t, "route53", func(*book) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /2013-04-01/hostedzonesbyname", func(w http.ResponseWriter, _ *http.Request) {
			replyXML(w, 200, "ListHostedZonesByNameResponse", "<HostedZones>"+
				zone("Z0", true)+zone("Z1", false)+zone("Z2", true)+"</HostedZones>")
		})
		mux.HandleFunc("GET /2013-04-01/hostedzone/Z1/rrset", func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("name") != "b.example.com." {
				replyXML(w, 200, "ListResourceRecordSetsResponse", "<ResourceRecordSets>"+set("a.example.com.")+
					"</ResourceRecordSets><IsTruncated>true</IsTruncated><NextRecordName>b.example.com.</NextRecordName><NextRecordType>A</NextRecordType>")
				return
			}
			replyXML(w, 200, "ListResourceRecordSetsResponse", "<ResourceRecordSets>"+set("b.example.com.")+
				"</ResourceRecordSets><IsTruncated>false</IsTruncated>")
		})
		return mux
	})
	records, err := z.backend.GetRecords(t.Context(), "example.com.")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range records {
		names = append(names, r.RR().Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("the names of a zone with two pages differ (-want +got):\n%s", diff)
	}
}

func TestRoute53RetriesTemporaryErrors(t *testing.T) {
	t.Parallel()
	asked := 0
	_, z := serve(t, "route53", func(b *book) http.Handler {
		whole := route53Server(b)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 1 {
				replyXML(w, 400, "ErrorResponse",
					"<Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error>")
				return
			}
			whole.ServeHTTP(w, r)
		})
	})
	if _, err := z.backend.GetRecords(t.Context(), "example.com."); err != nil {
		t.Errorf("reading a zone with one throttled request returned %v, want the records", err)
	}
}

func TestRoute53KeepsSetsWithRoutingPolicy(t *testing.T) {
	t.Parallel()
	_, z := serve(t, "route53", func(*book) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("GET /2013-04-01/hostedzonesbyname", route53Server(&book{}))
		mux.HandleFunc("GET /2013-04-01/hostedzone/Z1/rrset", func(w http.ResponseWriter, _ *http.Request) {
			replyXML(w, 200, "ListResourceRecordSetsResponse",
				"<ResourceRecordSets><ResourceRecordSet><Name>example.com.</Name><Type>TXT</Type>"+
					"<SetIdentifier>eu</SetIdentifier><TTL>60</TTL></ResourceRecordSet></ResourceRecordSets>")
		})
		return mux
	})
	_, err := z.backend.AppendRecords(t.Context(), "example.com.", []libdns.Record{libdns.TXT{Name: "@", Text: "new"}})
	if err == nil || !strings.Contains(err.Error(), "routing policy") {
		t.Errorf("adding a record to a set with a routing policy returned %v, want an error about the policy", err)
	}
}

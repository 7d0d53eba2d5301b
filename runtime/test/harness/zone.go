package harness

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/miekg/dns"

	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// ServeZone returns the URL at which a browser script publishes DNS records, like a domain's owner at a DNS provider.
// The script posts the records of a domain as the API returns them.
func ServeZone(t testing.TB, server *dnsxtest.Server) string {
	t.Helper()
	zone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var records []struct{ Type, Name, Value string }
		if err := json.NewDecoder(r.Body).Decode(&records); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, record := range records {
			value := record.Value + "."
			if record.Type == "TXT" {
				value = dkim.ZoneText(record.Value)
			}
			rr, err := dns.NewRR(record.Name + ". 60 IN " + record.Type + " " + value)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			server.Put(rr)
		}
	}))
	t.Cleanup(zone.Close)
	return zone.URL
}

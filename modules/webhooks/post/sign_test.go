package post

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// The vectors were generated with OpenSSL: printf '%s' "$t.$body" | openssl dgst -sha256 -hmac "$secret".
func TestSignatureVectors(t *testing.T) {
	t.Parallel()
	at := time.Unix(1768469400, 987654321)
	body := []byte(`{"type":"email.sent","created_at":"2026-01-15T09:30:00.000Z","data":{"subject":"Grüße"}}`)
	one, two := secret.New("whsec_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo0"), secret.New("whsec_old")
	header := http.Header{}
	signRequest(header, DeliveryRequest{EventID: "evt_1", Body: body, Secrets: []secret.String{one, two}}, at)
	got := header.Get(webhooksig.Header)
	if want := "t=1768469400,v1=2df85f4bd4f28fdc743024531c46d397daa84c7888f9026d433f268d8878e7cf,v1=7d4be82b7317673361c939b93591750a87061189da0dfaf9d01b30977bd43607"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	signRequest(header, DeliveryRequest{EventID: "evt_1", Body: body, Secrets: []secret.String{one}}, at)
	if got := header.Get(webhooksig.Header); strings.Count(got, "v1=") != 1 {
		t.Errorf("one secret produced %s, want a single v1 signature", got)
	}
}

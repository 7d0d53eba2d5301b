package post

import (
	"net/http"
	"time"

	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// signRequest sets the signature header fields of a message, newest secret first.
func signRequest(header http.Header, m DeliveryRequest, at time.Time) {
	plain := make([]string, len(m.Secrets))
	for i, s := range m.Secrets {
		plain[i] = s.Reveal()
	}
	webhooksig.SetHeaders(header, m.EventID, plain, at, m.Body)
}

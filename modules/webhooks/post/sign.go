package post

import (
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// signBody returns the value of the header webhooksig.Header, newest secret first.
func signBody(at time.Time, body []byte, secrets ...secret.String) string {
	plain := make([]string, len(secrets))
	for i, s := range secrets {
		plain[i] = s.Reveal()
	}
	return webhooksig.Sign(plain, at, body)
}
